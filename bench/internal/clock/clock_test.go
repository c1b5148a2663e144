package clock

import (
	"math"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/loov/hrtime"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var clocks = map[string]func() *Clock{"system": System, "monotonic": Monotonic}

func TestClocksAgreeWithTimeSince(t *testing.T) {
	for name, create := range clocks {
		c := create()
		best := math.Inf(1)
		// Another process may run between two readings: the best of three
		// counts.
		for try := 0; try < 3 && best > 0.01; try++ {
			start, first := time.Now(), c.Now()
			time.Sleep(200 * time.Millisecond)
			got := c.Duration(c.Now() - first)
			best = min(best, math.Abs(float64(got)/float64(time.Since(start))-1))
		}
		if best > 0.01 {
			t.Errorf("%s: 200 ms are off by %.2f %%, want 1 %% at most", name, 100*best)
		}
	}
}

func TestClocksAreMonotone(t *testing.T) {
	for name, create := range clocks {
		c := create()
		last := c.Now()
		for i := range 200_000 {
			now := c.Now()
			if now < last {
				t.Fatalf("%s: went back from %d to %d", name, last, now)
			}
			last = now
			if i%1000 == 0 {
				runtime.Gosched() // another thread, perhaps
			}
		}
	}
}

// A reading that was handed to another goroutine is not ahead of one that is
// made there, whichever cores the two run on.
func TestReadingsOfTwoGoroutinesAreOrdered(t *testing.T) {
	for name, create := range clocks {
		c := create()
		there, back := make(chan Ticks), make(chan Ticks)
		go func() {
			defer close(back)
			for earlier := range there {
				now := c.Now()
				if now < earlier {
					t.Errorf("%s: %d after %d of another goroutine", name, now, earlier)
				}
				back <- now
			}
		}()
		for range 5000 {
			there <- c.Now()
			if earlier, now := <-back, c.Now(); now < earlier {
				t.Errorf("%s: %d after %d of another goroutine", name, now, earlier)
			}
		}
		close(there)
		<-back
	}
}

func TestSystemUsesTheCounterWhereItIsSupported(t *testing.T) {
	want := "monotonic"
	if hrtime.TSCSupported() {
		want = "tsc"
	}
	if got := System().Source(); got != want && !again(t) {
		t.Errorf("the clock of the system reads %s, want %s (TSCSupported is %t)", got, want, hrtime.TSCSupported())
	}
	if first, second := System(), System(); first != second {
		t.Error("the clock of the system is calibrated more than once")
	}
}

// again reports whether the running test passes in a process of its own. The
// counter of a virtual machine may go on where the clock stands still: if that
// falls into the only calibration of this process, the clock is another one
// with good reason.
func again(t *testing.T) bool {
	const inner = "CLOCK_TEST_AGAIN"
	if os.Getenv(inner) != "" {
		return false
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), inner+"=1")
	out, err := cmd.CombinedOutput()
	t.Logf("in a process of its own: %v\n%s", err, out)
	return err == nil
}

func TestWithoutACounterTheClockIsMonotonic(t *testing.T) {
	forbidden := func() uint64 { t.Error("the counter was read"); return 0 }
	if c := choose(false, forbidden); c.Source() != "monotonic" {
		t.Errorf("source is %s, want monotonic", c.Source())
	}
	frozen := func() uint64 { return 7 }
	if c := choose(true, frozen); c.Source() != "monotonic" {
		t.Errorf("source with a counter that stands still is %s, want monotonic", c.Source())
	}
}

func TestCalibrationFindsTheRateOfACounter(t *testing.T) {
	begin := time.Now()
	counter := func() uint64 { return uint64(3*time.Since(begin)) + 1<<40 } // 3 GHz
	start := time.Now()
	c, err := Calibrated("fake", counter)
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took < CalibrationTime || CalibrationTime < 100*time.Millisecond {
		t.Errorf("calibrated for %v, want %v, and that 100 ms or more", took, CalibrationTime)
	}
	if got := c.Duration(3_000_000); got < 999*time.Microsecond || got > 1001*time.Microsecond {
		t.Errorf("3,000,000 ticks of a 3 GHz counter are %v, want 1 ms", got)
	}
	if got := c.Ticks(time.Millisecond); got < 2_997_000 || got > 3_003_000 {
		t.Errorf("1 ms is %d ticks of a 3 GHz counter, want 3,000,000", got)
	}
}

func TestCalibrationRefusesCountersThatAreNoClock(t *testing.T) {
	var begin time.Time
	for name, counter := range map[string]func() uint64{
		"frozen":    func() uint64 { return 5 },
		"backwards": func() uint64 { return 1<<62 - uint64(time.Since(begin)) },
		// Its rate grows all the time, so that it differs between the halves
		// however long one of them takes.
		"uneven": func() uint64 {
			d := time.Since(begin).Seconds()
			return uint64(1e9 * (d + 2*d*d/CalibrationTime.Seconds()))
		},
	} {
		begin = time.Now()
		if _, err := Calibrated(name, counter); err == nil || !strings.HasPrefix(err.Error(), "clock: ") {
			t.Errorf("%s: error is %v, want one of this package", name, err)
		}
	}
}

func TestReadingDoesNotAllocate(t *testing.T) {
	for name, create := range clocks {
		c := create()
		if n := testing.AllocsPerRun(1000, func() { c.Duration(c.Now()) }); n != 0 {
			t.Errorf("%s: a reading allocates %v times", name, n)
		}
	}
}
