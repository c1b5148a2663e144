package ringbuf

import "math/bits"

// A position's word is lap | buffer(≥17) | readers(10) | writing(1), with the
// lap in the upper bits, so that laps compare as signed differences and a lap
// that wraps is still later than the one before.
const (
	writingBit = 1
	readerOne  = 1 << 1
	maxReaders = 1<<10 - 1
	readerMask = maxReaders * readerOne
	bufferOne  = 1 << 11

	minBufferBits = 17 // 65520 spare buffers and up to 65536 positions
)

// layout holds what depends on the capacity.
type layout struct {
	mask       uint64 // capacity-1: the part of a sequence number that says which position
	lapOne     uint64 // one lap in a word
	bufferMask uint64 // the buffer in a word
	lapShift   uint8  // from a sequence number without its position to a lap in a word
	within     uint8  // from a sequence number to a place within a stream
	stream     uint8  // from a sequence number to the start of its stream
}

// layoutOf returns the layout for a capacity of 2^capacityBits.
func layoutOf(capacityBits int) layout {
	bufferBits := max(minBufferBits, capacityBits+1)
	lapOne := uint64(bufferOne) << bufferBits
	streams := min(streamBits, capacityBits)
	return layout{
		mask:       1<<capacityBits - 1,
		lapOne:     lapOne,
		bufferMask: lapOne - bufferOne,
		lapShift:   uint8(bits.TrailingZeros64(lapOne) - capacityBits),
		within:     uint8(streams),
		stream:     uint8(capacityBits - streams),
	}
}

// lap returns the lap of a sequence number as it stands in a word, with all
// other parts zero.
func (y *layout) lap(seq uint64) uint64 { return seq &^ y.mask << (y.lapShift & 63) }

// streamBits says in how many streams records are laid out in memory: one of
// four follows the other. So writers side by side share no cache line, and
// the processor still sees few streams that each go forward.
const streamBits = 2

// index returns where the position of a sequence number lies among the slots:
// the number's lowest bits come first, the rest of its position follows. The
// buffer that the position starts with has the same number.
func (y *layout) index(seq uint64) uint64 {
	return seq&y.mask>>(y.within&63) | seq<<(y.stream&63)&y.mask
}

// ahead tells how the lap of a word lies to that of a sequence number: zero
// if it is the same, positive if it is later, negative if it is earlier.
func (y *layout) ahead(w, seq uint64) int64 { return int64(w&^(y.lapOne-1) - y.lap(seq)) }

// buffer returns the number of a word's buffer.
func (y *layout) buffer(w uint64) uint32 { return uint32(w & y.bufferMask / bufferOne) }

// holders counts who holds a word's buffer: its readers and its writer.
func holders(w uint64) int32 { return int32(w&readerMask/readerOne + w&writingBit) }
