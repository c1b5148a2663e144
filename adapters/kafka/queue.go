package kafka

import "github.com/tidemark-go/tidemark/core/checkpoint"

// readyQueue holds issued batches until Poll returns them, oldest first.
// Guarded by Source.mu. The zero value is empty and ready.
type readyQueue struct {
	items []readyBatch // items[head:] are queued
	head  int
	// records is how many records the queued batches hold.
	records int
}

type readyBatch struct {
	Batch
	p *partition
}

func (q *readyQueue) len() int { return len(q.items) - q.head }

func (q *readyQueue) push(b Batch, p *partition) {
	if len(q.items) == cap(q.items) && q.head > len(q.items)/2 {
		// Reuse the front half instead of growing for ever behind it.
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	q.items = append(q.items, readyBatch{b, p})
	q.records += len(b.Records)
}

func (q *readyQueue) pop() (Batch, *partition, bool) {
	if q.head == len(q.items) {
		return Batch{}, nil, false
	}
	it := q.items[q.head]
	q.items[q.head] = readyBatch{} // the records are the caller's now
	q.head++
	q.records -= len(it.Records)
	if q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	}
	return it.Batch, it.p, true
}

// drop removes the batches of every partition that gone reports, and appends
// their acks to dst.
func (q *readyQueue) drop(dst []checkpoint.Ack, gone func(*partition) bool) []checkpoint.Ack {
	keep := q.items[:0]
	for _, it := range q.items[q.head:] {
		if gone(it.p) {
			dst = append(dst, it.Ack)
			q.records -= len(it.Records)
			continue
		}
		keep = append(keep, it)
	}
	clear(q.items[len(keep):])
	q.items, q.head = keep, 0
	return dst
}
