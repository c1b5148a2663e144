package ringbuf_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"unsafe"

	"go.uber.org/goleak"

	"github.com/tidemark-go/tidemark/ringbuf"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestCapacityIsRoundedUpAndLimited(t *testing.T) {
	for capacity, want := range map[int]int{1: 1, 2: 2, 3: 4, 4: 4, 5: 8, 64: 64, 65: 128, 1000: 1024, 1 << 16: 1 << 16} {
		r, err := ringbuf.New[int](capacity)
		if err != nil {
			t.Fatalf("capacity %d: %v", capacity, err)
		}
		if got := r.Capacity(); got != want {
			t.Errorf("capacity %d became %d, want %d", capacity, got, want)
		}
		if got := r.Next(); got != 1 {
			t.Errorf("capacity %d: next is %d, want 1", capacity, got)
		}
	}
	for _, capacity := range []int{0, -1, math.MinInt, ringbuf.MaxCapacity + 1, math.MaxInt} {
		r, err := ringbuf.New[int](capacity)
		if r != nil || err == nil || !strings.HasPrefix(err.Error(), "ringbuf: capacity is ") {
			t.Errorf("capacity %d: %v, %v, want an error", capacity, r, err)
		}
	}
}

// wide is too much for one record of a large ring on any platform: 64 TiB
// where words have 64 bits, 1 GiB where they have 32.
const wide = 1 << (30 + 16*(^uint(0)>>63))

func TestRingBeyondTheAddressSpaceIsAnError(t *testing.T) {
	_, err := ringbuf.New[[wide]byte](1 << 18)
	if err == nil || !strings.Contains(err.Error(), "address space") {
		t.Errorf("got %v, want an error", err)
	}
	// One record fits, and the buffers that a ring begins with do not.
	if _, err := ringbuf.New[[wide / 4]byte](1); err == nil || !strings.Contains(err.Error(), "address space") {
		t.Errorf("with its buffers: %v, want an error", err)
	}
}

// A record that is nil is refused before it takes a number, which would leave
// a hole that readers wait at.
func TestARecordThatIsNilTakesNoNumber(t *testing.T) {
	r, err := ringbuf.New[int](4)
	if err != nil {
		t.Fatal(err)
	}
	v := 7
	r.Append(&v)
	func() {
		defer func() {
			if s, ok := recover().(string); !ok || s != "ringbuf: Append needs a record, got nil" {
				t.Errorf("panic with %v", s)
			}
		}()
		r.Append(nil)
	}()
	r.Append(&v)
	var got [3]int
	if n, err := r.ReadAfter(0, got[:]); n != 2 || err != nil || r.Next() != 3 {
		t.Errorf("read %d, %v, and the next record is %d; want two records and no hole", n, err, r.Next())
	}
}

func TestTypesWithPointersAreRefused(t *testing.T) {
	refused := func(name string, err error) {
		if err == nil || !strings.Contains(err.Error(), "holds pointers") {
			t.Errorf("%s: %v, want an error that says it holds pointers", name, err)
		}
	}
	refused("pointer", ringOf[*int]())
	refused("string", ringOf[string]())
	refused("slice", ringOf[[]byte]())
	refused("map", ringOf[map[int]int]())
	refused("chan", ringOf[chan int]())
	refused("func", ringOf[func()]())
	refused("interface", ringOf[any]())
	refused("unsafe.Pointer", ringOf[unsafe.Pointer]())
	refused("array of pointers", ringOf[[2]*int]())
	refused("struct with a string", ringOf[struct {
		a int
		b [3]struct{ s string }
	}]())
	for name, err := range map[string]error{
		"empty struct":               ringOf[struct{}](),
		"bool":                       ringOf[bool](),
		"uintptr":                    ringOf[uintptr](),
		"complex128":                 ringOf[complex128](),
		"array of nothing":           ringOf[[0]*int](),
		"struct of arrays and bytes": ringOf[struct{ a [4]struct{ b [3]byte } }](),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func ringOf[T any]() error {
	_, err := ringbuf.New[T](2)
	return err
}

func TestZeroRingNamesNew(t *testing.T) {
	defer func() {
		if s, ok := recover().(string); !ok || !strings.Contains(s, "New") {
			t.Errorf("append to a zero Ring panicked with %v, want a message that names New", s)
		}
	}()
	var r ringbuf.Ring[int]
	v := 1
	r.Append(&v)
}

func TestRecordsOfSizeZeroAreCounted(t *testing.T) {
	r, err := ringbuf.New[struct{}](2)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		r.Append(&struct{}{})
	}
	var o *ringbuf.CursorOverwrittenError
	if _, err := r.ReadAfter(0, make([]struct{}, 2)); !errors.As(err, &o) || o.OldestRetained != 2 {
		t.Errorf("after 0: %v, want overwritten before 2", err)
	}
	if n, err := r.ReadAfter(1, make([]struct{}, 5)); n != 2 || err != nil {
		t.Errorf("after 1: %d, %v, want 2", n, err)
	}
}

func TestPagesFromTheFirstRecordThroughManyLaps(t *testing.T) {
	eachRing(t, func(t *testing.T, capacity int) {
		m := newMachine(t, capacity, 1)
		m.check()
		for range 3*capacity + 2 {
			m.appendWhole(1)
			m.page(m.oldest()-1, 3)
			m.page(m.next-1, 3)
			m.page(m.next, 3)
		}
		m.page(m.oldest()-1, 0)
		m.page(m.next-1, 0)
		m.page(m.next, 0)
		m.page(0, 0)
		m.page(m.oldest()-1, 2*capacity)
		m.finish()
	})
}

// The numbers where laps wrap in the word, where they stop being handed out
// by fetch-and-add, and where they end are like all others.
func TestPagesAroundTheEdgesOfTheSequence(t *testing.T) {
	eachRing(t, func(t *testing.T, capacity int) {
		for name, first := range starts(capacity) {
			m := newMachine(t, capacity, first)
			for range 5 {
				m.check()
				m.appendWhole(capacity/2 + 1)
			}
			for range 8 {
				if a := m.start(); a != nil {
					m.stepTo(a, ringbuf.HalfFill)
				}
				m.appendWhole(capacity/2 + 1)
				m.check()
			}
			m.finish()
			if (name == "end" || name == "last") && m.next != math.MaxUint64 {
				t.Errorf("%s: the test ends at %d, not at the last number", name, m.next)
			}
		}
	})
}

func TestSequenceEndsBelowTheLargestNumber(t *testing.T) {
	r, err := ringbuf.NewAt[payload](2, math.MaxUint64-2)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []uint64{math.MaxUint64 - 2, math.MaxUint64 - 1} {
		v := valueOf(want)
		if seq, ok := r.Append(&v); seq != want || !ok {
			t.Errorf("append: %d, %t, want %d", seq, ok, want)
		}
	}
	for range 3 {
		if seq, ok := r.Append(&payload{}); seq != 0 || ok {
			t.Errorf("append after the last number: %d, %t, want 0, false", seq, ok)
		}
	}
	dst := make([]payload, 3)
	if n, err := r.ReadAfter(math.MaxUint64-3, dst); n != 2 || err != nil || dst[1] != valueOf(math.MaxUint64-1) {
		t.Errorf("last page: %d, %v, %v", n, err, dst)
	}
	if n, err := r.ReadAfter(math.MaxUint64-1, dst); n != 0 || err != nil {
		t.Errorf("page after the last record: %d, %v, want an empty one", n, err)
	}
	var ahead *ringbuf.CursorAheadError
	if _, err := r.ReadAfter(math.MaxUint64, dst); !errors.As(err, &ahead) || ahead.NextSequence != math.MaxUint64 {
		t.Errorf("page after the largest number: %v, want ahead", err)
	}
}

// The package documentation promises these widths.
func TestLapsAreWide(t *testing.T) {
	for capacity := 1; capacity <= ringbuf.MaxCapacity; capacity *= 2 {
		bits := 0
		for 1<<bits < capacity {
			bits++
		}
		lap := ringbuf.LapBits(bits)
		if capacity <= 1<<16 && lap < 36 || lap+bits < 52 && capacity >= 1<<16 {
			t.Errorf("capacity %d: the lap has %d bits, the position %d", capacity, lap, bits)
		}
		// What the lap leaves must number all buffers and readers.
		if buffers := uint64(1) << (64 - lap - 11); buffers < uint64(capacity+ringbuf.MaxSpares) {
			t.Errorf("capacity %d: %d buffers can be numbered, %d can exist", capacity, buffers, capacity+ringbuf.MaxSpares)
		}
	}
	if ringbuf.FirstSpares != 16 || ringbuf.MaxSpares != 65520 || ringbuf.MaxReaders < 1000 {
		t.Errorf("%d spare buffers at first, %d at most, %d readers: the documentation says otherwise",
			ringbuf.FirstSpares, ringbuf.MaxSpares, ringbuf.MaxReaders)
	}
}

// Each lap has every position once, always at the same place, and those of
// consecutive records lie apart.
func TestPositionsOfALap(t *testing.T) {
	eachRing(t, func(t *testing.T, capacity int) {
		r, err := ringbuf.New[byte](capacity)
		if err != nil {
			t.Fatal(err)
		}
		seen := make([]bool, capacity)
		for seq := range uint64(capacity) {
			i := r.Index(seq)
			if seen[i] || r.Index(seq+uint64(capacity)) != i || r.Index(seq+1<<60) != i {
				t.Fatalf("record %d is at place %d, which is wrong", seq, i)
			}
			seen[i] = true
			if next := r.Index(seq + 1); capacity >= 64 && max(i, next)-min(i, next) < uint64(capacity)/8 {
				t.Errorf("records %d and %d lie at %d and %d", seq, seq+1, i, next)
			}
		}
	})
}

func TestNothingIsAllocatedInSteadyState(t *testing.T) {
	r, err := ringbuf.New[payload](64)
	if err != nil {
		t.Fatal(err)
	}
	v := valueOf(1)
	if n := testing.AllocsPerRun(1000, func() { r.Append(&v) }); n != 0 {
		t.Errorf("%v allocations an append", n)
	}
	dst := make([]payload, 64)
	if n := testing.AllocsPerRun(1000, func() {
		if n, err := r.ReadAfter(r.Next()-65, dst); n != 64 || err != nil {
			t.Fatalf("page: %d, %v", n, err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a page", n)
	}
}

func TestErrorsSayWhatIsLegal(t *testing.T) {
	r, err := ringbuf.New[int](2)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		r.Append(&i)
	}
	_, err = r.ReadAfter(0, nil)
	if want := "ringbuf: cursor 0: record 1 was overwritten; the oldest retained is 2, so cursors from 1 on are legal"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	_, err = r.ReadAfter(4, nil)
	if want := "ringbuf: cursor 4 is ahead of the last record; the next is 4, so cursors below it are legal"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
