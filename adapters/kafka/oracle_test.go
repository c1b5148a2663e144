package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// oracle sees every delivery and every commit in one order: a delivery is
// noted before its batch is acknowledged, and the broker asks the oracle
// before it acts on a commit.
type oracle struct {
	topic string

	mu         sync.Mutex
	delivered  [][]int // partition → offset → times delivered
	prefix     []int64 // partition → everything below is delivered
	commits    int
	violations []string
}

func newOracle(c *cluster, topic string, partitions int) *oracle {
	o := &oracle{topic: topic, delivered: make([][]int, partitions), prefix: make([]int64, partitions)}
	c.ControlKey(int16(kmsg.OffsetCommit), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		o.commit(kreq.(*kmsg.OffsetCommitRequest))
		return nil, nil, false // the broker goes on as usual
	})
	return o
}

func (o *oracle) deliver(rs []*kgo.Record) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range rs {
		d := o.delivered[r.Partition]
		for int64(len(d)) <= r.Offset {
			d = append(d, 0)
		}
		d[r.Offset]++
		o.delivered[r.Partition] = d
		p := o.prefix[r.Partition]
		for p < int64(len(d)) && d[p] > 0 {
			p++
		}
		o.prefix[r.Partition] = p
	}
}

// commit checks one request. Requests the broker will refuse are checked too:
// what a member claims to be delivered must be true at any time.
func (o *oracle) commit(req *kmsg.OffsetCommitRequest) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			o.commits++
			if p.Offset > o.prefix[p.Partition] {
				o.violate("%s commits partition %d at %d, delivered up to %d", req.MemberID, p.Partition, p.Offset, o.prefix[p.Partition])
			}
		}
	}
}

// accepted returns an OnCommit for one member: the commits the broker accepted
// of it go forward, also when a partition was away in between.
func (o *oracle) accepted() func(topic string, partition int32, offset int64) {
	last := make([]int64, len(o.prefix))
	return func(_ string, partition int32, offset int64) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if offset <= last[partition] {
			o.violate("a member's commit of partition %d at %d was accepted after %d", partition, offset, last[partition])
		}
		last[partition] = offset
	}
}

func (o *oracle) violate(format string, args ...any) {
	o.violations = append(o.violations, fmt.Sprintf(format, args...))
}

// watch samples the group's commits until ctx is done: they never go back.
func (o *oracle) watch(ctx context.Context, c *cluster) {
	last := make([]int64, len(o.prefix))
	for p := range last {
		last[p] = -1
	}
	for ctx.Err() == nil {
		for p := range last {
			got := committed(c, "group", o.topic, int32(p))
			if got < last[p] {
				o.mu.Lock()
				o.violate("the group's commit of partition %d went from %d to %d", p, last[p], got)
				o.mu.Unlock()
			}
			last[p] = max(last[p], got)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// done reports whether everything up to ends is delivered.
func (o *oracle) done(ends []int64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for p, end := range ends {
		if o.prefix[p] < end {
			return false
		}
	}
	return true
}

func (o *oracle) violated() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]string(nil), o.violations...)
}

// verify fails the test on a violation, a record delivered that was not
// produced, or one that is missing. It returns how many came more than once.
func (o *oracle) verify(t *testing.T, ends []int64) (repeated int) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	for i, v := range o.violations {
		if i == 5 {
			t.Errorf("and %d more", len(o.violations)-i)
			break
		}
		t.Error(v)
	}
	if o.commits == 0 {
		t.Error("the oracle saw no commit")
	}
	for p, end := range ends {
		if int64(len(o.delivered[p])) > end {
			t.Errorf("partition %d: delivered up to %d, produced up to %d", p, len(o.delivered[p]), end)
		}
		for _, n := range o.delivered[p] {
			if n > 1 {
				repeated++
			}
		}
	}
	return repeated
}

// cable is a member's network, which can be unplugged: the member goes on
// without knowing that the group goes on without it.
type cable struct {
	mu    sync.Mutex
	out   bool
	conns []net.Conn
}

func (w *cable) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	w.mu.Lock()
	out := w.out
	w.mu.Unlock()
	if out {
		return nil, errors.New("unplugged")
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, addr)
	if err == nil {
		w.mu.Lock()
		w.conns = append(w.conns, conn)
		w.mu.Unlock()
	}
	return conn, err
}

func (w *cable) unplug() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out = true
	for _, c := range w.conns {
		_ = c.Close()
	}
	w.conns = nil
}

func (w *cable) plug() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out = false
}
