package ringbuf

import (
	"math/bits"

	"github.com/tidemark-go/tidemark/internal/atomics"
)

const (
	// firstSpares is how many spare buffers a ring starts with. Chunk k of
	// them holds firstSpares<<k buffers.
	firstSpares = 16
	spareChunks = 12
	maxSpares   = firstSpares * (1<<spareChunks - 1)

	noBuffer = ^uint32(0)
)

// spares are the buffers that are not at a position.
type spares[T any] struct {
	// head is tag(32) | buffer+1(32) of the first spare; 0 in the lower half
	// means none. It is CASed to the next spare by whoever takes one and to a
	// new first one by whoever gives one back, each time under a new tag, so
	// that a late CAS fails.
	head atomics.Uint64
	// chunks are the buffers beyond those of the positions. Each is CASed from
	// nil to a chunk once, in order; loaded by all that use such a buffer.
	chunks [spareChunks]atomics.Pointer[chunk[T]]
}

type chunk[T any] struct{ buffers []buffer[T] }

// init makes the first spares, whose numbers begin with first.
func (s *spares[T]) init(first uint32) {
	c := newChunk[T](0, first)
	s.chunks[0].Store(c)
	s.head.Store(uint64(first + 1))
}

// newChunk returns chunk k, linked in order; first is its first buffer's
// number.
func newChunk[T any](k int, first uint32) *chunk[T] {
	c := &chunk[T]{make([]buffer[T], firstSpares<<k)}
	for i := range len(c.buffers) - 1 {
		c.buffers[i].link.Store(first + uint32(i) + 2)
	}
	return c
}

// chunkStart returns how many spares come before chunk k.
func chunkStart(k int) int { return firstSpares * (1<<k - 1) }

// buffer returns the spare buffer that comes j-firstSpares after the first.
// Counted that way chunk k holds the buffers from firstSpares<<k on.
func (s *spares[T]) buffer(j int) *buffer[T] {
	k := bits.Len(uint(j)) - bits.Len(firstSpares)
	return &s.chunks[k].Load().buffers[j-firstSpares<<k]
}

// takeSpare returns the number of a buffer that nobody else uses.
func (r *Ring[T]) takeSpare() uint32 {
	for {
		h := r.spares.head.Load()
		if uint32(h) == 0 {
			if id, ok := r.grow(); ok {
				return id
			}
			continue
		}
		id := uint32(h) - 1
		link := r.buffer(id).link.Load()
		if r.spares.head.CompareAndSwap(h, nextTag(h)|uint64(link)) {
			return id
		}
	}
}

// giveBack puts a buffer among the spares. noBuffer is none.
func (r *Ring[T]) giveBack(id uint32) {
	if id != noBuffer {
		r.giveBackList(id, r.buffer(id))
	}
}

// giveBackList puts the linked buffers from first to last among the spares.
func (r *Ring[T]) giveBackList(first uint32, last *buffer[T]) {
	for {
		h := r.spares.head.Load()
		last.link.Store(uint32(h))
		if r.spares.head.CompareAndSwap(h, nextTag(h)|uint64(first+1)) { // whoever takes them owns them
			return
		}
	}
}

// nextTag returns the tag after that of a head, with no buffer.
func nextTag(h uint64) uint64 { return (h>>32 + 1) << 32 }

// grow makes a new chunk of spares and returns the first of them. It reports
// false if another append made one meanwhile or if none may be made: then
// some may be at hand.
func (r *Ring[T]) grow() (id uint32, ok bool) {
	for k := range r.spares.chunks {
		if r.spares.chunks[k].Load() != nil {
			continue
		}
		first := uint32(len(r.slots) + chunkStart(k))
		c := newChunk[T](k, first)
		if !r.spares.chunks[k].CompareAndSwap(nil, c) {
			return 0, false
		}
		r.giveBackList(first+1, &c.buffers[len(c.buffers)-1])
		return first, true
	}
	atomics.Pause()
	return 0, false
}
