package bench_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tidemark-go/tidemark/bench/channel"
	"github.com/tidemark-go/tidemark/bench/internal/rows"
	"github.com/tidemark-go/tidemark/bench/rejected/ackstack"
	"github.com/tidemark-go/tidemark/bench/rejected/bitmap"
	"github.com/tidemark-go/tidemark/core/checkpoint"
)

type partition = checkpoint.PartitionID

// pendingLimit bounds what waits in a partition, and is what each channel of
// the channel baseline holds.
const pendingLimit = 16384

// subject is a checkpointer under measurement. Its methods do many operations
// a call, with direct calls inside, so that the interface costs nothing that
// shows. The implementations are the same text but for the type names; a test
// holds them to that.
type subject interface {
	begin(epoch uint32, partitions []partition) error
	// worker returns what one goroutine needs to issue for its partitions.
	worker(partitions []partition) worker
	drain() (applied int)
	// take takes the watermarks and returns how many batches they passed.
	take() (passed int)
}

// rebalancer is a subject that can change one partition of many.
type rebalancer interface {
	subject
	readmit(p partition) error
}

// worker issues. The k-th batch of a partition has last offset k, so a
// watermark is the number of batches passed.
type worker interface {
	hold(capacity int) held
	// issue issues n batches, in turn over the worker's partitions. It yields
	// while a partition is at its pending limit.
	issue(into held, n int)
}

// held is a list of handles. One goroutine at a time uses it.
type held interface {
	retain(more int)       // more holders for each batch
	release(order []int32) // one release for each of the given handles
	clear()
}

// marks turns watermarks into counts of batches.
type marks struct {
	buf  []checkpoint.Watermark
	last []int64 // by partition
}

func (m *marks) count() int {
	n := 0
	for _, w := range m.buf {
		for int(w.Partition) >= len(m.last) {
			m.last = append(m.last, make([]int64, len(m.last)+16)...)
		}
		n += int(w.Offset - m.last[w.Partition])
		m.last[w.Partition] = w.Offset
	}
	return n
}

// implementations lists the checkpointers; the first two keep the whole contract.
var implementations = []struct {
	name   string
	create func() subject
	whole  bool
}{
	{"tidemark", func() subject {
		return &tidemarkSubject{cp: checkpoint.New(checkpoint.WithPendingLimit(pendingLimit))}
	}, true},
	{"channel", func() subject {
		return &channelSubject{cp: channel.New(
			channel.WithPendingLimit(pendingLimit), channel.WithBuffer(pendingLimit))}
	}, true},
	{"ackstack", func() subject { return &ackstackSubject{cp: ackstack.New(pendingLimit)} }, false},
	{"bitmap", func() subject { return &bitmapSubject{cp: bitmap.New(pendingLimit)} }, false},
}

func (s *tidemarkSubject) readmit(p partition) error {
	s.cp.Revoke(p)
	return s.cp.ExtendEpoch(p)
}

func (s *channelSubject) readmit(p partition) error {
	s.cp.Revoke(p)
	return s.cp.ExtendEpoch(p)
}

// eachSubject runs one row per implementation. format names the other
// dimensions.
func eachSubject(b *testing.B, wholeOnly bool, dims string, run func(b *testing.B, create func() subject)) {
	for _, im := range implementations {
		if im.whole || !wholeOnly {
			rows.Run(b, fmt.Sprintf("impl=%s/%s", im.name, dims), func(b *testing.B) { run(b, im.create) })
		}
	}
}

// begun returns a new subject with the given partitions.
func begun(b *testing.B, create func() subject, partitions []partition) subject {
	s := create()
	if err := s.begin(1, partitions); err != nil {
		b.Fatal(err)
	}
	return s
}

// upTo returns the partitions from first to first+n-1.
func upTo(first, n int) []partition {
	ps := make([]partition, n)
	for i := range ps {
		ps[i] = partition(first + i)
	}
	return ps
}

// orders are the orders in which a window of handles is released.
type orders struct {
	all [][]int32
	at  int
}

const scrambles = 8

func newOrders(window int, scrambled bool) *orders {
	o := &orders{}
	rng := rand.New(rand.NewPCG(1, uint64(window)))
	for range scrambles {
		order := make([]int32, window)
		for i := range order {
			order[i] = int32(i)
		}
		if scrambled {
			rng.Shuffle(window, func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
		o.all = append(o.all, order)
	}
	return o
}

func (o *orders) next() []int32 {
	o.at++
	return o.all[o.at%scrambles]
}
