package explore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// broken are programs with something wrong, and the beginning of what a search
// must say.
var broken = map[string]struct {
	says  string
	setup func() Program
}{
	"published before it is written": {"data race: the plain", func() Program { return publication(true) }},
	"a read races with a later write": {"data race: the plain", func() Program {
		var v int
		p := unsafe.Pointer(&v)
		var c Cell[bool]
		return Program{Threads: []func(){func() { Read(p); c.Load() }, func() { c.Load(); Write(p) }}}
	}},
	"two writes": {"data race: the plain write by thread", func() Program {
		var v int
		var c Cell[bool]
		write := func() { c.Load(); Write(unsafe.Pointer(&v)) }
		return Program{Threads: []func(){write, write}}
	}},
	// A store teaches its thread nothing, even if another store came before.
	"a store is no load": {"data race", func() Program {
		var v int
		var c Cell[bool]
		write := func() { Write(unsafe.Pointer(&v)); c.Store(true) }
		return Program{Threads: []func(){write, func() { c.Store(false); write() }}}
	}},
	"a wake-up is lost": {"deadlock: thread b stands before park", func() Program { return wakeUp(false) }},
	"locks in two orders": {"deadlock: ", func() Program {
		var x, y Mutex
		var c Cell[bool]
		both := func(x, y *Mutex) func() {
			return func() { x.Lock(); y.Lock(); c.Store(true); y.Unlock(); x.Unlock() }
		}
		return Program{Threads: []func(){both(&x, &y), both(&y, &x)}}
	}},
	"nobody ends the wait": {"deadlock: thread a stands before pause", func() Program {
		var c Cell[bool]
		return Program{Threads: []func(){func() {
			for !c.Load() {
				Pause()
			}
		}}}
	}},
	"a wait without a pause": {"no end after 20000 operations: thread a stands before load", func() Program {
		var c Cell[bool]
		return Program{Threads: []func(){func() {
			for !c.Load() {
			}
		}}}
	}},
	"an assertion of a thread": {"seen 1", func() Program {
		var w Word[uint32]
		return Program{Threads: []func(){func() { w.Store(1) }, func() {
			if v := w.Load(); v != 0 {
				Fail("seen %d", v)
			}
		}}}
	}},
	"an update of two operations": {"sum 1", func() Program {
		var w Word[int64]
		add := func() { w.Store(w.Load() + 1) }
		return Program{Threads: []func(){add, add}, Check: func() error {
			if w.Load() != 2 {
				return fmt.Errorf("sum %d", w.Load())
			}
			return nil
		}}
	}},
	"a panic": {"thread b panicked: oh", func() Program {
		var c Cell[bool]
		return Program{Threads: []func(){func() { c.Store(true) }, func() {
			if c.Load() {
				panic("oh")
			}
		}}}
	}},
}

// publication hands a plain value over with a flag, in the right order or not.
func publication(early bool) Program {
	var v int
	var ready Cell[bool]
	return Program{Threads: []func(){func() {
		if early {
			ready.Store(true)
		}
		Write(unsafe.Pointer(&v))
		v = 1
		if !early {
			ready.Store(true)
		}
	}, func() {
		if ready.Load() {
			Read(unsafe.Pointer(&v))
			if v != 1 {
				Fail("read %d", v)
			}
		}
	}}}
}

// wakeUp lets a thread wait for news, with a second look before it parks or
// not.
func wakeUp(second bool) Program {
	var news, waiting Cell[bool]
	p := NewParker()
	return Program{Threads: []func(){func() {
		news.Store(true)
		if waiting.Load() {
			p.Unpark()
		}
	}, func() {
		if news.Load() {
			return
		}
		waiting.Store(true)
		if !second || !news.Load() {
			_ = p.Park(context.Background())
		}
	}}}
}

func searches() map[string]Search {
	return map[string]Search{"exhaustive": Exhaust(1000), "bounded": Bound(2, 1000), "random": Random(1000, 3)}
}

func TestWhatIsWrongIsFoundAndRepeats(t *testing.T) {
	for title, c := range broken {
		for kind, s := range searches() {
			result := s.Explore(c.setup)
			if !strings.HasPrefix(result.Failure, c.says) {
				t.Errorf("%s, %s: says %q, want %q…", title, kind, result.Failure, c.says)
				continue
			}
			for range 2 {
				failure, trace, err := Repeat(result.Schedule, c.setup)
				if err != nil || firstLine(failure) != firstLine(result.Failure) {
					t.Errorf("%s, %s: %q repeated says %q, %v; want %q", title, kind, result.Schedule, failure, err, result.Failure)
				}
				if len(trace) == 0 || !regexp.MustCompile(`_test\.go:\d+`).MatchString(trace[0]) {
					t.Errorf("%s, %s: the trace does not lead to the source: %q", title, kind, trace[:min(1, len(trace))])
				}
			}
		}
	}
}

func TestWhatIsRightPasses(t *testing.T) {
	for title, setup := range map[string]func() Program{
		"published after it is written": func() Program { return publication(false) },
		"a wake-up that is not lost":    func() Program { return wakeUp(true) },
		"a wait with a pause": func() Program {
			var v int
			var c Cell[bool]
			return Program{Threads: []func(){func() {
				for !c.Load() {
					Pause()
				}
				Read(unsafe.Pointer(&v))
			}, func() { Write(unsafe.Pointer(&v)); c.Store(true) }}}
		},
		"cells behind a mutex": func() Program {
			var v int
			var m Mutex
			add := func() { m.Lock(); Write(unsafe.Pointer(&v)); v++; m.Unlock() }
			return Program{Threads: []func(){add, add, add}, Check: func() error {
				if v != 3 {
					return fmt.Errorf("sum %d", v)
				}
				return nil
			}}
		},
		"an end of a context": func() Program {
			c, p := NewContext(), NewParker()
			return Program{Threads: []func(){c.Cancel, func() {
				if err := p.Park(c); !errors.Is(err, context.Canceled) {
					Fail("Park: %v", err)
				}
			}}}
		},
	} {
		for kind, s := range searches() {
			if result := s.Explore(setup); result.Failure != "" {
				t.Errorf("%s, %s: %s", title, kind, result.Failure)
			}
		}
	}
}

func TestAProgramThatIsNotDeterministicIsAnError(t *testing.T) {
	n := 0
	for title, setup := range map[string]func() Program{
		"another operation": func() Program {
			var c Cell[bool]
			n++
			odd := n%2 == 0
			return Program{Threads: []func(){func() { c.Store(true); c.Store(true) }, func() {
				if c.Store(true); odd {
					c.Load()
				} else {
					c.Store(false)
				}
			}}}
		},
		"fewer operations": func() Program {
			var c Cell[bool]
			n++
			rounds := 3 - n%2*2
			return Program{Threads: []func(){func() { c.Store(true); c.Load() }, func() {
				for range rounds {
					c.Store(false)
				}
			}}}
		},
	} {
		n = 0
		if result := Exhaust(1000).Explore(setup); !strings.HasPrefix(result.Failure, "the program is not deterministic") {
			t.Errorf("%s: %q", title, result.Failure)
		}
	}
}

func TestStateOfAnEarlierExecutionIsRefused(t *testing.T) {
	var c Cell[bool]
	store := func() { c.Store(true) }
	if result := Exhaust(1000).Explore(func() Program { return Program{Threads: []func(){store, store}} }); !strings.HasPrefix(result.Failure, "an object is left") {
		t.Errorf("%+v", result)
	}
}

func TestASearchThatIsNotFinishedIsAFailure(t *testing.T) {
	setup := broken["locks in two orders"].setup
	right := func() Program { return wakeUp(true) }
	for _, s := range []Search{Exhaust(2), Bound(3, 2)} {
		if result := s.Explore(right); result.Failure != "not finished after 2 executions" {
			t.Errorf("%v: %q", s, result.Failure)
		}
	}
	if result := Exhaust(1000).Explore(setup); result.Executions >= 1000 {
		t.Errorf("a failure ended the search after %d executions", result.Executions)
	}
}

func TestGoexitIsFound(t *testing.T) {
	said := make(chan string)
	go func() {
		r := newRun(newTree(-1))
		defer func() { said <- r.failed }()
		defer r.close()
		r.execute(func() Program { return Program{Threads: []func(){runtime.Goexit}} })
	}()
	if text := <-said; !strings.Contains(text, "Goexit") {
		t.Errorf("said %q", text)
	}
}

// Everything that a thread defers runs when its execution is given up, and
// cannot meet the search any more.
func TestAnAbandonedThreadUnwinds(t *testing.T) {
	unwound, aborted := 0, 0
	setup := func() Program {
		var c Cell[bool]
		body := func() {
			defer func() { unwound++ }()
			defer func() {
				defer func() {
					if _, ok := recover().(abort); ok {
						aborted++
						panic(abort{})
					}
				}()
				c.Load()
			}()
			c.Load()
			c.Store(true)
		}
		return Program{Threads: []func(){body, body, body}}
	}
	var result Result
	result.walk(sleepOnly(), 100000, setup) // which gives more executions up
	if result.Failure != "" || result.Abandoned == 0 || aborted == 0 || unwound != 3*result.Executions {
		t.Errorf("%+v, unwound %d, aborted %d", result, unwound, aborted)
	}
}

func TestSchedulesAreReadAsWritten(t *testing.T) {
	for _, s := range [][]uint8{nil, {0}, {0, 0, 0}, {0, 1, 1, 7, 0}, slices.Repeat([]uint8{3}, 120)} {
		text := formatSchedule(s)
		if got, err := parseSchedule(text); err != nil || !slices.Equal(got, s) {
			t.Errorf("%v written as %q is read as %v, %v", s, text, got, err)
		}
	}
	for _, text := range []string{"3", "a0", "ax2", "z", "a99999999999999999999", "a b"} {
		if s, err := parseSchedule(text); err == nil {
			t.Errorf("%q is read as %v", text, s)
		}
	}
	if failure, _, _ := Repeat("b", func() Program { return wakeUp(true) }); !strings.Contains(failure, "the schedule ends") {
		t.Errorf("a schedule that is too short: %q", failure)
	}
	if failure, _, _ := Repeat("a9", func() Program { return wakeUp(true) }); !strings.Contains(failure, "does not fit") {
		t.Errorf("a schedule that does not fit: %q", failure)
	}
}

// The orders of recorded operations that an exhaustive search sees are those
// that all executions have.
func TestHistoriesLoseNoOrder(t *testing.T) {
	for _, shared := range []bool{false, true} {
		var want map[string]bool
		for i, d := range []*tree{newTree(100), sleepOnly(), newTree(-1)} {
			got := map[string]bool{}
			var result Result
			result.walk(d, 1e6, func() Program { return recordedToy(shared, got) })
			if i == 0 {
				want = got
			}
			if result.Failure != "" || !maps.Equal(got, want) {
				t.Errorf("shared %v, search %d: %d orders, want %d (%s)", shared, i, len(got), len(want), result.Failure)
			}
		}
		if len(want) < 20 {
			t.Errorf("shared %v: only %d orders", shared, len(want))
		}
	}
}

// recordedToy is three threads with four recorded operations on one location or
// on one each. It notes in orders which ended before which began.
func recordedToy(shared bool, orders map[string]bool) Program {
	h := new(History)
	var words [3]Word[uint32]
	thread := func(id, n int) func() {
		return func() {
			for range n {
				h.Do(id, func() any {
					if shared {
						return words[0].Add(1)
					}
					return words[id].Add(1)
				})
			}
		}
	}
	return Program{Threads: []func(){thread(0, 2), thread(1, 1), thread(2, 1)}, Check: func() error {
		slices.SortStableFunc(h.Made, func(a, b Operation) int { return a.Thread - b.Thread })
		order := ""
		for _, a := range h.Made {
			for _, b := range h.Made {
				order += fmt.Sprint(a.Return < b.Call, " ")
			}
			order += fmt.Sprint(a.Output, ";")
		}
		orders[order] = true
		return nil
	}}
}

func TestHistoriesTellOrdersApart(t *testing.T) {
	// Two operations about nothing in common: one before the other, the other
	// way round, or together.
	orders := map[string]bool{}
	setup := func() Program {
		h := new(History)
		var x, y Cell[bool]
		return Program{
			Threads: []func(){
				func() { h.Do("x", func() any { x.Store(true); return 1 }) },
				func() { h.Do("y", func() any { y.Store(true); return 2 }) },
			},
			Check: func() error {
				a, b := h.Made[0], h.Made[1]
				if a.Thread == 1 {
					a, b = b, a
				}
				switch {
				case a.Return < b.Call:
					orders["a b"] = true
				case b.Return < a.Call:
					orders["b a"] = true
				default:
					orders["together"] = true
				}
				if a.Input != "x" || a.Output != 1 || b.Output != 2 {
					return fmt.Errorf("recorded %+v", h.Made)
				}
				return nil
			},
		}
	}
	if result := Exhaust(1000).Explore(setup); result.Failure != "" || len(orders) != 3 {
		t.Errorf("%s, orders %v", result.Failure, orders)
	}
}
