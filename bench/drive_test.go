package bench_test

import (
	"os"
	"strings"
	"testing"
)

// TestDriversAreTheSameText compares the drivers of the checkpointers with
// each other: a difference would measure the driver.
func TestDriversAreTheSameText(t *testing.T) {
	text := func(name, pkg string) string {
		raw, err := os.ReadFile("drive_" + name + "_test.go")
		if err != nil {
			t.Fatal(err)
		}
		_, body, ok := strings.Cut(string(raw), "\n)\n") // after the imports
		if !ok {
			t.Fatalf("driver of %s has no import block", name)
		}
		body = strings.ReplaceAll(body, "checkpoint.ErrPendingLimit", "ErrPendingLimit")
		body = strings.ReplaceAll(body, pkg+".", "impl.")
		return strings.ReplaceAll(body, name, "impl")
	}
	want := text("tidemark", "checkpoint")
	for _, im := range implementations[1:] {
		if got := text(im.name, im.name); got != want {
			t.Errorf("the driver of %s differs from that of tidemark", im.name)
		}
	}
}

// TestSubjectsDoTheSameWork runs the same ticks on every implementation.
func TestSubjectsDoTheSameWork(t *testing.T) {
	for _, im := range implementations {
		s := im.create()
		if err := s.begin(1, upTo(0, 4)); err != nil {
			t.Fatal(err)
		}
		w := s.worker(upTo(0, 4))
		h, o := w.hold(250), newOrders(250, true)
		for range 20 {
			w.issue(h, 250)
			h.retain(2)
			order := o.next()
			h.release(order)
			h.release(order)
			if n := s.drain(); n != 0 {
				t.Fatalf("%s: %d batches applied with a holder left", im.name, n)
			}
			h.release(order)
			if n := s.drain(); n != 250 {
				t.Fatalf("%s: %d batches applied, want 250", im.name, n)
			}
			if n := s.take(); n != 250 {
				t.Fatalf("%s: %d batches passed, want 250", im.name, n)
			}
			h.clear()
		}
	}
}
