package ringbuf

// Seams for the tests of package ringbuf_test.

// NewAt returns a ring in the state after next-1 appends of zero records.
func NewAt[T any](capacity int, next uint64) (*Ring[T], error) { return newAt[T](capacity, next) }

// EndZone is where numbers are no longer handed out by fetch-and-add.
const EndZone = uint64(endZone)

// Spare buffers: how many a ring starts with and may have, and how many
// readers a position takes.
const (
	FirstSpares = firstSpares
	MaxSpares   = maxSpares
	MaxReaders  = maxReaders
)

// LapBits returns how many bits a lap has in a ring of that capacity.
func LapBits(capacityBits int) int {
	n := 0
	for lap := layoutOf(capacityBits).lapOne; lap != 0; lap <<= 1 {
		n++
	}
	return n
}

// Index returns where the position of a sequence number lies in memory.
func (r *Ring[T]) Index(seq uint64) uint64 { return r.index(seq) }

// Word returns the word of a slot.
func (r *Ring[T]) Word(slot int) uint64 { return r.slots[slot].word.Load() }

// SetWord sets it, for states that take very long to reach.
func (r *Ring[T]) SetWord(slot int, w uint64) { r.slots[slot].word.Store(w) }

// FullOfReaders returns w with as many readers as fit.
func FullOfReaders(w uint64) uint64 { return w | readerMask }

// SetSequence makes the buffer that slot p started with carry another sequence number, as if
// laps had come round.
func (r *Ring[T]) SetSequence(p int, seq uint64) { r.slots[p].home.cell.seq = seq }

// Buffers returns, for a ring at rest, the numbers of the buffers at
// positions and of the spare ones, and the number of all there are.
func (r *Ring[T]) Buffers() (atPositions, spare []uint32, all int) {
	for i := range r.slots {
		atPositions = append(atPositions, r.layout.buffer(r.slots[i].word.Load()))
	}
	for link := uint32(r.spares.head.Load()); link != 0; link = r.buffer(link - 1).link.Load() {
		spare = append(spare, link-1)
	}
	all = len(r.slots)
	for k := range r.spares.chunks {
		if c := r.spares.chunks[k].Load(); c != nil {
			all += len(c.buffers)
		}
	}
	return atPositions, spare, all
}

// Jump brings a ring whose writers are all held into the state after many
// appends of zero records: next becomes the next number.
func Jump(r *Ring[Payload], next uint64) {
	for i := range r.slots {
		seq := next - 1 - uint64(i)
		p := r.at(seq)
		p.word.Store(r.lap(seq) | p.word.Load()&(r.lapOne-1))
		r.buffer(r.layout.buffer(p.word.Load())).cell = cell[Payload]{seq: seq}
	}
	r.next.Store(next)
}

// NearEnd tells whether numbers are handed out one by one.
func (r *Ring[T]) NearEnd() bool { return r.nearEnd.Load() }

// TakeSpareLate begins to take a spare buffer, lets others do something, and
// tells whether it got the buffer all the same.
func (r *Ring[T]) TakeSpareLate(others func()) bool {
	h := r.spares.head.Load()
	link := r.buffer(uint32(h) - 1).link.Load()
	others()
	return r.spares.head.CompareAndSwap(h, nextTag(h)|uint64(link))
}

// TakeSpare and GiveBack are the ring's own.
func (r *Ring[T]) TakeSpare() uint32  { return r.takeSpare() }
func (r *Ring[T]) GiveBack(id uint32) { r.giveBack(id) }

// Holds returns a buffer's count of holders.
func (r *Ring[T]) Holds(id uint32) int32 { return r.buffer(id).holds.Load() }

// Payload is the record of rings whose operations are held half way.
type Payload [8]uint64

// AppendSteps are where HeldAppend can stand.
const (
	Numbered  = iota // has its sequence number
	Looked           // has loaded the word
	Equipped         // has a spare buffer; must look again
	Claimed          // the position is claimed, the old buffer not settled
	Settled          // the old buffer is let go of
	HalfFill         // half of the record is copied
	Filled           // the record is copied
	Published        // the publishing CAS is done; if it failed the buffer is still held
	Done
)

// HeldAppend is an Append that stops after each of its shared steps.
type HeldAppend struct {
	r        *Ring[Payload]
	p        *slot[Payload]
	v        Payload
	Seq      uint64
	At       int  // the step done last
	Lapped   bool // it found itself lapped
	Orphaned bool // it found its buffer orphaned when it published
	w        uint64
	claimed  uint64
	spare    uint32
}

// StartAppend takes a sequence number for the record that value makes of it.
func StartAppend(r *Ring[Payload], value func(seq uint64) Payload) (*HeldAppend, bool) {
	seq, ok := r.takeNumber()
	if !ok {
		return nil, false
	}
	return &HeldAppend{r: r, p: r.at(seq), v: value(seq), Seq: seq, spare: noBuffer}, true
}

// Step makes the next step.
func (a *HeldAppend) Step() {
	r := a.r
	switch a.At {
	case Numbered, Equipped:
		a.w = a.p.word.Load()
		a.At = Looked
	case Looked:
		claimed, result := r.tryClaim(a.p, a.Seq, a.w, &a.spare)
		switch result {
		case claimDone:
			a.claimed = claimed
			a.At = Claimed
		case claimLapped:
			a.Lapped = true
			a.At = Done
		case claimAgain:
			a.At = Numbered
			if a.spare != noBuffer {
				a.At = Equipped
			}
		}
	case Claimed:
		r.settle(a.w, a.spare)
		a.At = Settled
	case Settled:
		copy(r.buffer(r.layout.buffer(a.claimed)).cell.value[:4], a.v[:4])
		a.At = HalfFill
	case HalfFill:
		r.buffer(r.layout.buffer(a.claimed)).fill(a.Seq, &a.v)
		a.At = Filled
	case Filled:
		a.Orphaned = !a.p.word.CompareAndSwap(a.claimed, a.claimed-writingBit)
		a.At = Published
	case Published:
		if a.Orphaned {
			r.letGo(r.layout.buffer(a.claimed), -1)
		}
		a.At = Done
	}
}

// ReadSteps are where HeldRead can stand.
const (
	ReadNumbered = iota // has looked at next: the record was there to be had
	ReadLooked          // has loaded the word
	ReadPinned          // holds the buffer
	ReadHalf            // has copied half of the record
	ReadCopied          // has copied the record
	ReadOrphan          // could not unpin at once: others were at the word
	ReadDone
)

// HeldRead is a read of one record that stops after each of its shared steps.
type HeldRead struct {
	r   *Ring[Payload]
	p   *slot[Payload]
	w   uint64
	Seq uint64
	At  int
	// Result is "pinned" if the record was copied, else why not.
	Result string
	Value  Payload
}

// StartRead begins to read a record; not if it is not retained now.
func StartRead(r *Ring[Payload], seq uint64) (h *HeldRead, ok bool) {
	next := r.next.Load()
	return &HeldRead{r: r, p: r.at(seq), Seq: seq}, seq < next && seq >= r.oldest(next)
}

// Step makes the next step.
func (h *HeldRead) Step() {
	r := h.r
	switch h.At {
	case ReadNumbered:
		h.w = h.p.word.Load()
		h.At = ReadLooked
	case ReadLooked:
		if result := r.readable(h.w, h.Seq); result != pinned {
			h.Result = [...]string{"pinned", "pending", "overwritten", "busy"}[result]
			h.At = ReadDone
			return
		}
		h.At = ReadNumbered
		if h.p.word.CompareAndSwap(h.w, h.w+readerOne) {
			h.w += readerOne
			h.At = ReadPinned
		}
	case ReadPinned:
		copy(h.Value[:4], r.buffer(r.layout.buffer(h.w)).cell.value[:4])
		h.At = ReadHalf
	case ReadHalf:
		var all Payload
		h.Result = "overwritten"
		if r.buffer(r.layout.buffer(h.w)).copyTo(h.Seq, &all) {
			h.Result = "pinned"
			copy(h.Value[4:], all[4:])
		}
		h.At = ReadCopied
	case ReadCopied:
		h.At = ReadOrphan
		if h.p.word.CompareAndSwap(h.w, h.w-readerOne) {
			h.At = ReadDone
		}
	case ReadOrphan: // or other readers have come or gone
		r.unpin(h.p, h.w)
		h.At = ReadDone
	}
}
