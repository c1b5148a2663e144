package live_test

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-go/tidemark/core/checkpoint"
	"github.com/tidemark-go/tidemark/core/live"
	"github.com/tidemark-go/tidemark/core/timing"
	"github.com/tidemark-go/tidemark/internal/longtest"
)

// replaceable is a handler that a test replaces, as a restart does, or takes
// away, as a broken connection does.
type replaceable struct{ h atomic.Pointer[http.Handler] }

func (r *replaceable) set(h http.Handler) { r.h.Store(&h) }

func (r *replaceable) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if h := r.h.Load(); h != nil {
		(*h).ServeHTTP(w, req)
		return
	}
	panic(http.ErrAbortHandler)
}

// TestPageInABrowser opens the page in headless Chromium where one is
// installed. What can be told without one is checked by the tests beside it.
func TestPageInABrowser(t *testing.T) {
	if longtest.LeftOut(t, "a browser reads the same answers everywhere, and the tests beside it read them too") {
		return
	}
	program := browser()
	if program == "" {
		t.Log("no Chromium here: the page is not opened")
		return
	}
	mux := http.NewServeMux()
	for _, n := range []int{1, 6, 60, 500} {
		e := start(t, n, time.Time{})
		l := newLedger(t, 1024)
		record(t, l, 7, 1, 300)
		e.issue(0, math.MaxInt64-1).Release()
		e.step()
		mux.Handle(fmt.Sprintf("/%d", n), live.Handler(live.Config{Title: "orders", Snapshot: e.Snapshot, Name: topicName, Ledger: l}))
	}
	mux.Handle("/none/yet", live.Handler(live.Config{}))
	var moving replaceable
	mux.Handle("/live", &moving)
	p := fly(t, program, mux)

	t.Run("fits at every size", p.fits)
	t.Run("filters and details", p.filters)
	e := start(t, 60, time.Time{})
	l := newLedger(t, 64)
	moving.set(live.Handler(live.Config{Title: "orders", Snapshot: e.Snapshot, Name: topicName, Ledger: l, HeldBackAfter: 3 * time.Second}))
	t.Run("a stall is seen within two seconds", func(t *testing.T) { p.sees(t, e) })
	t.Run("an open barrier is seen while it is open", func(t *testing.T) { p.barriers(t, l) })
	t.Run("pause", p.pauses)
	if complaints := p.console.complaints(); len(complaints) > 0 {
		t.Errorf("the console says %q", complaints)
	}
	t.Run("connection lost and found", func(t *testing.T) { p.loses(t, &moving) })
	for _, line := range p.console.complaints() {
		if !strings.Contains(line, "Failed to load resource") { // which the browser says of a lost connection
			t.Errorf("the console says %q", line)
		}
	}
}

func (p *pilot) on(t *testing.T) *pilot {
	with := *p
	with.t = t
	return &with
}

func (p *pilot) fits(t *testing.T) {
	p = p.on(t)
	for _, c := range []struct{ n, width int }{{1, 1280}, {6, 1280}, {60, 1280}, {500, 1280}, {1, 360}, {6, 360}, {500, 360}} {
		var f struct {
			Parts, Scroll, Width, Outside, Bars int
			Watermark                           string
		}
		p.do(&f, `
			await open("/%d", %d);
			await until(() => $$(".part").length >= %[1]d && $("#plot rect"));
			const root = frame.contentDocument.documentElement, width = root.clientWidth;
			const outside = $$("body *").filter((e) => !e.closest(".scroll") && e.getClientRects().length && e.getBoundingClientRect().right > width + 1);
			$("[data-partition='0']").click();
			return { parts: $$(".part").length, scroll: root.scrollWidth, width, outside: outside.length, bars: $$("#plot rect").length,
				watermark: $("#detail").textContent.replace(/\s/g, "") };`, c.n, c.width)
		if f.Parts != c.n || f.Scroll > f.Width || f.Outside > 0 || f.Width < c.width-20 || f.Bars < 20 {
			t.Errorf("%d partitions at %d pixels: %+v", c.n, c.width, f)
		}
		if !strings.Contains(f.Watermark, "9223372036854775807") {
			t.Errorf("the largest watermark is shown as %s", f.Watermark)
		}
	}
	p.do(new(any), `await open("/none/yet", 1280); return 1`)
	p.check("a page without sources says so", `!$("#none").hidden && $("#with-checkpointer").hidden && $("#pauses-none").textContent.includes("no ledger")`)
}

func (p *pilot) filters(t *testing.T) {
	p = p.on(t)
	p.do(new(any), `await open("/500", 1280); await until(() => $$(".part").length === 500); $("#filter").value = "S/49"; $("#filter").dispatchEvent(new Event("input")); return 1`)
	p.check("the filter leaves those that match", `$$(".part").length === 11 && $("#shown").textContent.startsWith("11 of 500")`)
	p.check("every partition has a name that says its state", `$$(".part").every((b) => b.getAttribute("aria-label").match(/^orders\/49\d?, idle, 0 pending/))`)
	p.do(new(any), `$("#states button:nth-child(2)").click(); return 1`)
	p.check("and nothing is shown as stalled", `$$(".part").length === 0 && !$("#parts-none").hidden`)
	p.do(new(any), `await open("/500?n=20", 1280); return 1`)
	p.check("n bounds the page", `$$(".part").length === 20 && $("#shown").textContent.includes("20 of 500")`)
}

// stopwatch measures from now on until what it returns is called. It looks at
// the clock all the time, and of a gap in which it could not it counts 50 ms:
// the machine stood still then, and the page with it.
func stopwatch(t *testing.T) func() time.Duration {
	stop, sum := make(chan struct{}), make(chan time.Duration, 1)
	go func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		total, last := time.Duration(0), time.Now()
		for running := true; running; {
			select {
			case <-tick.C:
			case <-stop:
				running = false
			case <-t.Context().Done():
				return
			}
			now := time.Now()
			total, last = total+min(now.Sub(last), 50*time.Millisecond), now
		}
		sum <- total
	}()
	return func() time.Duration {
		close(stop)
		return <-sum
	}
}

func TestStopwatchCountsAllTheTimeOfAMachineThatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		took := stopwatch(t)
		time.Sleep(2345 * time.Millisecond)
		if got := took(); got != 2345*time.Millisecond {
			t.Errorf("2.345 s are %v", got)
		}
	})
}

func (p *pilot) sees(t *testing.T, e *engine) {
	p = p.on(t)
	slow := e.issue(17, 9)
	bad := e.issue(41, 7)
	e.step()
	p.do(new(any), `await open("/live", 1280); await until(() => $$(".part").length === 60); return 1`)
	// A machine that is busy with other things may be late once, not always.
	for try := 1; ; try++ {
		var before int
		if p.do(&before, `return $$("[data-state=failed]").length`); before != 0 {
			t.Fatal("a partition is stalled before anything failed")
		}
		took := stopwatch(t)
		bad.Done(errSink)
		e.step()
		var first string
		p.do(&first, `await until(() => $(".part[data-state=failed]")); return $(".part").getAttribute("aria-label")`)
		late := took()
		if !strings.HasPrefix(first, "orders/41, stalled for ") {
			t.Errorf("the first partition is %q", first)
		}
		if late <= 2*time.Second {
			break
		}
		if try == 3 {
			t.Fatalf("a stall took %v to be seen, in each of %d tries more than 2 s", late, try)
		}
		if err := e.SkipFailed(41, bad.ID()); err != nil {
			t.Fatal(err)
		}
		e.step()
		p.check("it moves again", `!$("[data-state=failed]")`)
		bad = e.issue(41, 7)
	}
	name := bad.ID().String()
	p.check("the title tells", `frame.contentDocument.title === "✕ 1 stalled – orders"`)
	p.check("the list names the batch", `$("#held-rows").textContent.includes("`+name+`") && $("#events").textContent.includes("orders/41 is stalled by the failed batch `+name+`")`)
	p.check("the limit is told", `$("#tile-keys .limit").textContent === "3 s"`)
	p.check("the slow one is held back after a while, behind it", `$$(".part")[1].dataset.state === "held" && $$(".part")[1].dataset.partition === "17"`)
	slow.Release()
	if err := e.SkipFailed(41, bad.ID()); err != nil {
		t.Fatal(err)
	}
	e.step()
	p.check("both move again", `$$(".part[data-state=idle]").length === 60 && $("#events").textContent.includes("orders/41 moves again")`)
	e.Revoke(41)
	p.check("a revoked partition is gone", `$$(".part").length === 59 && $("#events").textContent.includes("orders/41 was revoked")`)
	if err := e.ExtendEpoch(checkpoint.PartitionID(41)); err != nil {
		t.Fatal(err)
	}
	p.check("and comes back", `$$(".part").length === 60 && $("#events").textContent.includes("orders/41 was assigned")`)
}

func (p *pilot) barriers(t *testing.T, l *timing.Ledger) {
	p = p.on(t)
	guard := timing.StartGuard(l, timing.Histograms{}, time.Time{}, func() (timing.Context, bool) { return contextOf(7, 1), true })
	p.check("an open barrier is drawn before the first record", `$("#plot rect.open") && $("#pauses-note").textContent.startsWith("1 barrier open, the oldest for ")`)
	guard.Close()
	p.check("and is a bar when it has ended", `!$("#plot rect.open") && $$("#plot rect.whole").length === 1 && $("#pause-rows").rows.length === 1`)
	record(t, l, 7, 2, 1001) // far more than the ledger retains
	p.check("what was overwritten is told", `$("#pauses-note").textContent.includes("overwritten before this page saw them") && $("#pause-rows").rows[0].cells[0].textContent.replace(/\s/g, "") === "1001"`)
}

func (p *pilot) pauses(t *testing.T) {
	p = p.on(t)
	var same bool
	p.do(&same, `
		$("#pause").click();
		const before = $("#link-text").textContent;
		await new Promise((r) => setTimeout(r, 1500));
		return $("#link").dataset.link === "paused" && $("#pause").getAttribute("aria-pressed") === "true" && before === $("#link-text").textContent;`)
	if !same {
		t.Error("a paused page goes on")
	}
	p.do(new(any), `$("#pause").click(); return 1`)
	p.check("it goes on again", `$("#link").dataset.link === "live"`)
}

func (p *pilot) loses(t *testing.T, moving *replaceable) {
	p = p.on(t)
	moving.h.Store(nil)
	p.check("a lost connection is told", `$("#link").dataset.link === "lost" && !$("#alert").hidden && frame.contentDocument.title.startsWith("Connection lost")`)
	e, l := start(t, 3, time.Time{}), newLedger(t, 64)
	record(t, l, 8, 5, 8)
	moving.set(live.Handler(live.Config{Title: "orders", Snapshot: e.Snapshot, Ledger: l}))
	p.check("another process is told and shown", `$("#link").dataset.link === "live" && $("#alert").hidden && $$(".part").length === 3 && $("#events").textContent.includes("started anew")`)
	p.check("with its barriers alone", `$$("#plot rect.whole").length === 4 && !$("#pauses-note").textContent.includes("overwritten")`)
}
