package chaos

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

const (
	brokers    = 3
	partitions = 6
)

// host runs the cluster, in this process, and lets the oracle see what it does.
type host struct {
	o   *oracle
	dir string

	// mu keeps the cluster from being used while it restarts.
	mu      sync.RWMutex
	cluster *kfake.Cluster
	ports   []int
	epochs  epochs

	stop   context.CancelFunc
	look   chan struct{} // a commit was asked for
	looker sync.WaitGroup
}

func newHost(o *oracle, dir string) (*host, error) {
	ctx, stop := context.WithCancel(context.Background())
	h := &host{o: o, dir: dir, stop: stop, look: make(chan struct{}, 1)}
	if err := h.start(func(*kfake.Cluster) error { return nil }, kfake.SeedTopics(partitions, topic)); err != nil {
		return nil, err
	}
	for _, addr := range h.addrs() {
		_, port, _ := net.SplitHostPort(addr)
		n, err := strconv.Atoi(port)
		if err != nil {
			return nil, err
		}
		h.ports = append(h.ports, n)
	}
	for p, info := range h.cluster.PartitionInfos(topic) {
		h.epochs.logs[p].leader, h.epochs.logs[p].epoch = info.Leader, info.Epoch
	}
	h.looker.Go(func() { h.watch(ctx) })
	return h, nil
}

// start makes the cluster, if accept finds nothing wrong with it. No request is
// read before the oracle sees commits.
func (h *host) start(accept func(*kfake.Cluster) error, opts ...kfake.Opt) error {
	gate := make(chan struct{})
	c, err := kfake.NewCluster(append(opts,
		kfake.NumBrokers(brokers),
		kfake.DataDir(h.dir),
		kfake.GroupMinSessionTimeout(100*time.Millisecond),
		kfake.BrokerConfigs(map[string]string{
			"group.consumer.heartbeat.interval.ms": "50",
			"group.consumer.session.timeout.ms":    strconv.Itoa(int(sessionTimeout.Milliseconds())),
		}),
		kfake.ListenFn(func(network, addr string) (net.Listener, error) {
			l, err := net.Listen(network, addr)
			return gated{l, gate}, err
		}))...)
	if err != nil {
		close(gate)
		return fmt.Errorf("chaos: starting the cluster: %w", err)
	}
	if err := accept(c); err != nil {
		c.Close()
		close(gate)
		return err
	}
	c.ControlKey(int16(kmsg.OffsetCommit), func(r kmsg.Request) (kmsg.Response, error, bool) {
		h.observe(r.(*kmsg.OffsetCommitRequest))
		return nil, nil, false // the broker goes on as usual
	})
	c.ControlKey(int16(kmsg.OffsetForLeaderEpoch), func(r kmsg.Request) (kmsg.Response, error, bool) {
		resp := h.epochs.answer(r.(*kmsg.OffsetForLeaderEpochRequest), c.CurrentNode())
		if resp != nil {
			c.KeepControl()
		}
		return resp, nil, resp != nil
	})
	close(gate)
	h.cluster = c
	return nil
}

// gated is a listener that accepts nothing until the gate opens.
type gated struct {
	net.Listener
	gate chan struct{}
}

func (g gated) Accept() (net.Conn, error) {
	<-g.gate
	return g.Listener.Accept()
}

// observe runs on the cluster's goroutine, before it acts.
func (h *host) observe(req *kmsg.OffsetCommitRequest) {
	if req.Group != group {
		return
	}
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			h.o.asked(fmt.Sprintf("%s in generation %d", req.MemberID, req.Generation), p.Partition, p.Offset)
			if p.Metadata == nil {
				continue
			}
			// Metadata of members that tell nothing is no list of ranges.
			text, _, _ := strings.Cut(*p.Metadata, "@")
			ranges, _ := checkpoint.ParseRanges(text)
			for _, r := range ranges {
				h.o.claimed(req.MemberID, p.Partition, r.From, r.To)
			}
		}
	}
	select {
	case h.look <- struct{}{}:
	default:
	}
}

// watch tells the oracle what the group has committed: after each commit, and
// now and then.
func (h *host) watch(ctx context.Context) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-h.look:
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		h.sample()
	}
}

func (h *host) sample() {
	h.mu.RLock()
	defer h.mu.RUnlock()
	g := h.cluster.GroupInfo(group)
	if g == nil {
		return
	}
	for p, c := range g.Commits[topic] {
		h.o.holds(p, c.Offset)
	}
}

func (h *host) addrs() []string { return h.cluster.ListenAddrs() }

// ends are the ends of the logs, markers included.
func (h *host) ends() []int64 {
	h.mu.RLock()
	defer h.mu.RUnlock()
	ends := make([]int64, partitions)
	for p, info := range h.cluster.PartitionInfos(topic) {
		ends[p] = info.HighWatermark
	}
	return ends
}

// describe says who is in the group.
func (h *host) describe() string {
	h.mu.RLock()
	defer h.mu.RUnlock()
	g := h.cluster.GroupInfo(group)
	if g == nil {
		return "the broker has no group\n"
	}
	text := fmt.Sprintf("the group is %s in epoch %d\n", g.State, g.Epoch)
	for _, m := range g.Members {
		text += fmt.Sprintf("%s (%s) has %v\n", m.MemberID, m.ClientID, m.Assignment[topic])
	}
	return text
}

// restart stops the cluster and starts it again on the same ports and data.
func (h *host) restart(down time.Duration) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cluster.Close()
	kept, err := keptSessions(h.dir)
	if err != nil {
		return err
	}
	time.Sleep(down)
	for try := 0; ; try++ {
		if err := kept.renew(); err != nil {
			return err
		}
		err := h.start(kept.complete, kfake.Ports(h.ports...))
		// The last connections of a port may take a moment to go, and a busy
		// machine may take a whole session to start.
		if err == nil || try == 50 {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (h *host) close() {
	h.stop()
	h.looker.Wait()
	h.cluster.Close()
}

// move gives a partition another leader.
func (h *host) move(partition, leader int32) error {
	info := h.cluster.PartitionInfo(topic, partition)
	if info.Leader == leader {
		return nil
	}
	h.epochs.moves(partition, leader, info.HighWatermark) // nothing is produced meanwhile
	if err := h.cluster.MoveTopicPartition(topic, partition, leader); err != nil {
		return err
	}
	if got := h.cluster.PartitionInfo(topic, partition).Epoch; got != h.epochs.logs[partition].epoch {
		return fmt.Errorf("chaos: the leader epoch of partition %d is %d after a move, want %d", partition, got, h.epochs.logs[partition].epoch)
	}
	return nil
}

// refuse lets the next commits fail.
func (h *host) refuse(err *kerr.Error, times int) {
	h.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Topic: topic, Err: err, Count: times})
}

// fence lets the next heartbeats fail.
func (h *host) fence(key kmsg.Key, err *kerr.Error, times int) {
	h.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{key}, Group: group, TopLevel: true, Err: err, Count: times})
}

// swallow leaves the members' next request of this kind without an answer; cut closes
// its connection. The broker does not act on it.
func (h *host) swallow(key kmsg.Key) { h.lose(key, nil) }
func (h *host) cut(key kmsg.Key)     { h.lose(key, errors.New("reset")) }

func (h *host) lose(key kmsg.Key, err error) {
	h.cluster.ControlKey(int16(key), func(r kmsg.Request) (kmsg.Response, error, bool) {
		if f, ok := r.(*kmsg.FindCoordinatorRequest); ok && f.CoordinatorType != 0 {
			return nil, nil, false // of the producer, which is spared
		}
		return nil, err, true
	})
}
