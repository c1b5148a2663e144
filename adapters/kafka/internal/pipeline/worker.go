package pipeline

import (
	"bytes"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	kafka "github.com/tidemark-go/tidemark/adapters/kafka"
	"github.com/tidemark-go/tidemark/adapters/kafka/internal/lines"
	"github.com/tidemark-go/tidemark/adapters/kafka/internal/producer"
)

// chunk is a batch after the work: what is to be written for it.
type chunk struct {
	batch        kafka.Batch
	events, dead []byte
	counts       counts
}

// counts of the lines of a chunk, by what became of them.
type counts struct {
	events, empty, oversized, unparsable, foreign int64
}

// chunkPool keeps the buffers of chunks that were written.
var chunkPool = sync.Pool{New: func() any { return new(chunk) }}

// maxPooled is the largest buffer worth keeping; a batch of long lines must
// not pin its memory.
const maxPooled = 1 << 20

func newChunk(b kafka.Batch) *chunk {
	c := chunkPool.Get().(*chunk)
	*c = chunk{batch: b, events: c.events[:0], dead: c.dead[:0]}
	return c
}

func (c *chunk) recycle() {
	c.batch = kafka.Batch{}
	if cap(c.events)+cap(c.dead) <= maxPooled {
		chunkPool.Put(c)
	}
}

// work parses batches until there are no more. Workers run side by side and
// are done with their batches in any order.
func (p *pipeline) work() {
	for batch := range p.jobs {
		if p.refuse(batch) {
			continue
		}
		c := newChunk(batch)
		for _, r := range batch.Records {
			c.add(r, p.cfg.Input, p.cfg.MaxLine)
		}
		p.chunks <- c // the writer holds the Ack from here
	}
}

// refuse fails a batch that is not wanted.
func (p *pipeline) refuse(b kafka.Batch) bool {
	if p.cfg.Refuse == nil {
		return false
	}
	err := p.cfg.Refuse(b)
	if err == nil {
		return false
	}
	p.stats.Refused.Add(int64(len(b.Records)))
	p.budget.give(size(b))
	b.Ack.Done(err)
	return true
}

// add turns one record into one line of output. No line is too bad for that:
// a bad one becomes a dead letter.
func (c *chunk) add(r *kgo.Record, input string, maxLine int) {
	origin := lines.Origin{Source: input, Partition: r.Partition, Offset: r.Offset}
	line, ok := producer.LineOf(r)
	if !ok {
		c.counts.foreign++
		c.dead = lines.AppendDead(c.dead, origin, lines.Foreign, lines.Problem{}, r.Value)
		return
	}
	origin.Line = line
	if spilled, ok := producer.SpilledOf(r); ok {
		c.counts.oversized++
		c.dead = lines.AppendSpilled(c.dead, origin, spilled, r.Value)
		return
	}
	if len(bytes.TrimSuffix(r.Value, []byte{'\r'})) == 0 {
		c.counts.empty++
		c.dead = lines.AppendDead(c.dead, origin, lines.Empty, lines.Problem{}, r.Value)
		return
	}
	if len(r.Value) > maxLine {
		c.counts.oversized++
		c.dead = lines.AppendDead(c.dead, origin, lines.Oversized, lines.Problem{}, r.Value)
		return
	}
	var event lines.Event
	if problem := lines.Parse(r.Value, &event); problem.Bad() {
		c.counts.unparsable++
		c.dead = lines.AppendDead(c.dead, origin, lines.Unparsable, problem, r.Value)
		return
	}
	c.counts.events++
	c.events = lines.AppendEvent(c.events, origin, &event)
}
