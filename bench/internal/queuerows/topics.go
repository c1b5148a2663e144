package queuerows

import (
	"fmt"
	"testing"

	"github.com/tidemark-go/tidemark/bench/internal/rows"
)

// each runs one row per queue that can do it.
func each(b *testing.B, impls []Impl, batch int, wait bool, dims string, run func(b *testing.B, create func() Subject)) {
	for _, im := range impls {
		if batch > 1 && !im.Batches && im.Name != channel || wait && !im.Waits {
			continue
		}
		rows.Run(b, fmt.Sprintf("impl=%s/%s", im.Name, dims), func(b *testing.B) { run(b, im.Create) })
	}
}

// Burst pushes a burst and then pops it, on one goroutine.
func Burst(b *testing.B, impls []Impl) {
	const burst = 256
	for _, batch := range []int{1, 16} {
		dims := fmt.Sprintf("burst=%d/batch=%d", burst, batch)
		each(b, impls, batch, false, dims, func(b *testing.B, create func() Subject) {
			q := create()
			alone(b, q, burst, func(p Producer, c *Credit, s *Sink, from int) {
				p.Push(c, from, burst, batch)
				q.Consume(s, burst, false)
			})
		})
	}
}

// PushPop pushes a message and pops one, on one goroutine, with some that wait
// in between or none.
func PushPop(b *testing.B, impls []Impl) {
	const pairs = 256
	for _, waiting := range []int{0, 1024} {
		each(b, impls, 1, false, fmt.Sprintf("waiting=%d", waiting), func(b *testing.B, create func() Subject) {
			filled := false
			alone(b, create(), pairs, func(p Producer, c *Credit, s *Sink, from int) {
				if !filled {
					filled = true
					p.Push(c, from, waiting, 1)
				}
				p.PushPop(c, s, from+waiting, pairs)
			})
		})
	}
}

// alone runs the producer and the consumer on one goroutine: once pushes and
// pops n messages, the first of them number from.
func alone(b *testing.B, q Subject, n int, once func(p Producer, c *Credit, s *Sink, from int)) {
	s, _ := newSink(1)
	p := q.Producer()
	defer p.Close()
	c := unlimited(s, 0)
	from := 0
	step := func() {
		once(p, &c, s, from)
		from += n
	}
	for range 64 {
		step()
	}
	warm := from
	var t rows.Timer
	t.Begin()
	for b.Loop() {
		step()
	}
	t.End()
	if s.wrong > 0 || s.lanes[0].next != uint64(from) {
		b.Fatalf("%d of %d messages arrived, %d of them out of order", s.lanes[0].next, from, s.wrong)
	}
	t.Report(b, from-warm, "msg", "msgs")
}

const total = 1 << 18 // messages of one run, of all producers

// concurrent is a row with goroutines for the producers.
type concurrent struct {
	producers, batch int
	wait             bool
	procs            int // GOMAXPROCS; 0 leaves it as it is
}

func (c concurrent) dims() string {
	consumer := "poll"
	if c.wait {
		consumer = "wait"
	}
	dims := fmt.Sprintf("producers=%d/batch=%d/consumer=%s", c.producers, c.batch, consumer)
	if c.procs > 0 {
		dims += fmt.Sprintf("/procs=%d", c.procs)
	}
	return dims
}

func (c concurrent) rows(b *testing.B, impls []Impl) {
	each(b, impls, c.batch, c.wait, c.dims(), func(b *testing.B, create func() Subject) {
		if c.procs > 0 {
			rows.On(c.procs, func() { c.measure(b, create()) })
		} else {
			c.measure(b, create())
		}
	})
}

func (c concurrent) measure(b *testing.B, q Subject) {
	r := newRig(q, total, c.producers, c.batch, c.wait)
	defer r.close()
	r.run() // the first time without counting
	var t rows.Timer
	runs := 0
	t.Begin()
	for b.Loop() {
		r.run()
		runs++
	}
	t.End()
	if r.sink.wrong > 0 {
		b.Fatalf("%d messages out of order", r.sink.wrong)
	}
	t.Report(b, runs*total, "msg", "msgs")
}

// Producers has producers push a fixed total while the consumer drains,
// yielding when there is nothing (consumer=poll) or sleeping (consumer=wait).
// With 512 there are many more goroutines than processors.
func Producers(b *testing.B, impls []Impl) {
	for _, wait := range []bool{false, true} {
		for _, producers := range []int{1, 2, 4, 8, 16, 512} {
			concurrent{producers: producers, batch: 1, wait: wait}.rows(b, impls)
		}
	}
}

// Batches pushes 16 messages at a time.
func Batches(b *testing.B, impls []Impl) {
	for _, producers := range []int{1, 8} {
		concurrent{producers: producers, batch: 16}.rows(b, impls)
	}
}

// Cores has four producers on some of the processors.
func Cores(b *testing.B, impls []Impl) {
	for _, n := range rows.Procs() {
		concurrent{producers: 4, batch: 1, procs: n}.rows(b, impls)
	}
}
