package chaos

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// mistake names what a member written by hand does wrong.
type mistake string

const (
	// none commits what is delivered without a gap, of what it owns.
	none           mistake = "none"
	commitsPolled  mistake = "commits what it polled"
	commitsHighest mistake = "commits the highest delivered"
	commitsLast2   mistake = "commits last+2"
	ignoresRevokes mistake = "ignores revokes"
)

// byHand is a member that does without a Source.
type byHand struct {
	mistake mistake
	out     *sender
	cl      *kgo.Client

	mu sync.Mutex
	// owned are the partitions as they were assigned.
	owned map[int32]*handPart
	// committing is held across a commit, so that none is under way when a
	// partition is given up. It is taken before mu.
	committing sync.Mutex
}

// handPart is one ownership.
type handPart struct {
	issued          []int64 // offsets that are not delivered or behind one that is not
	done            map[int64]bool
	next            int64 // everything below is delivered
	polled, highest int64
}

// runByHand polls, delivers on a goroutine a record, and commits on a ticker.
func (c memberConfig) runByHand(ctx context.Context, out *sender) error {
	m := &byHand{mistake: c.Mistake, out: out, owned: map[int32]*handPart{}}
	cl, err := kgo.NewClient(append(c.options(), kgo.SeedBrokers(c.Brokers...), kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic),
		kgo.SessionTimeout(sessionTimeout), kgo.RebalanceTimeout(rebalanceTimeout), kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll(),
		kgo.KeepControlRecords(), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.Balancers(kgo.CooperativeStickyBalancer()),
		kgo.OnPartitionsAssigned(m.assigned), kgo.OnPartitionsRevoked(m.gone), kgo.OnPartitionsLost(m.gone))...)
	if err != nil {
		return err
	}
	m.cl = cl
	var work sync.WaitGroup
	work.Go(func() { m.commitLoop(ctx) })
	rng := rand.New(rand.NewPCG(c.Seed, 0))
	for ctx.Err() == nil {
		for _, r := range cl.PollRecords(ctx, 20).Records() {
			p := m.issue(r)
			if p == nil {
				continue
			}
			delay := time.Duration(rng.IntN(3)) * time.Millisecond
			if rng.IntN(30) == 0 {
				delay = 40 * time.Millisecond
			}
			work.Go(func() {
				time.Sleep(delay)
				out.deliver(r.Partition, 0, []*kgo.Record{r})
				m.finished(p, r.Offset)
			})
		}
		cl.AllowRebalance()
	}
	work.Wait()
	cl.CloseAllowingRebalance()
	return nil
}

func (m *byHand) assigned(_ context.Context, _ *kgo.Client, parts map[string][]int32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range parts[topic] {
		m.owned[p] = &handPart{done: map[int64]bool{}, next: -1}
	}
}

func (m *byHand) gone(_ context.Context, _ *kgo.Client, parts map[string][]int32) {
	if m.mistake == ignoresRevokes {
		return
	}
	m.committing.Lock()
	defer m.committing.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range parts[topic] {
		delete(m.owned, p)
	}
}

// issue notes a record that is to be delivered. It returns nil for a marker.
func (m *byHand) issue(r *kgo.Record) *handPart {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.owned[r.Partition]
	p.polled = r.Offset + 1
	p.issued = append(p.issued, r.Offset)
	if r.Attrs.IsControl() {
		p.finish(r.Offset)
		return nil
	}
	return p
}

func (m *byHand) finished(p *handPart, offset int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p.finish(offset)
	p.highest = max(p.highest, offset+1)
}

func (p *handPart) finish(offset int64) {
	p.done[offset] = true
	for len(p.issued) > 0 && p.done[p.issued[0]] {
		p.next = p.issued[0] + 1
		delete(p.done, p.issued[0])
		p.issued = p.issued[1:]
	}
}

// claim is what the member commits, or -1.
func (m *byHand) claim(p *handPart) int64 {
	switch {
	case m.mistake == commitsPolled && p.polled > 0:
		return p.polled
	case m.mistake == commitsHighest && p.highest > 0:
		return p.highest
	case m.mistake == commitsLast2 && p.next >= 0:
		return p.next + 1
	}
	return p.next
}

func (m *byHand) commitLoop(ctx context.Context) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		m.commit(ctx)
	}
}

func (m *byHand) commit(ctx context.Context) {
	m.committing.Lock()
	defer m.committing.Unlock()
	m.mu.Lock()
	due := map[int32]kgo.EpochOffset{}
	for num, p := range m.owned {
		if at := m.claim(p); at >= 0 {
			due[num] = kgo.EpochOffset{Epoch: -1, Offset: at}
		}
	}
	m.mu.Unlock()
	if len(due) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	m.cl.CommitOffsetsSync(ctx, map[string]map[int32]kgo.EpochOffset{topic: due}, nil)
}
