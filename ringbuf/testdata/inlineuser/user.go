// Package inlineuser uses a ring as an embedder does; a test looks at its
// machine code.
package inlineuser

import "github.com/tidemark-go/tidemark/ringbuf"

// Record is what the ring holds.
type Record [3]uint64

// Use uses every method.
func Use(r *ringbuf.Ring[Record], v *Record, page []Record) (int, error) {
	r.Append(v)
	return r.ReadAfter(r.Next()-1, page)
}
