package checkpoint_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// ranges wants exactly these, given as from, to pairs.
func (r *rig) ranges(p checkpoint.PartitionID, want ...int64) {
	r.t.Helper()
	got, more := r.DeliveredRanges(p, nil, 1000)
	if more || !slices.Equal(flat64(got), want) {
		r.t.Fatalf("DeliveredRanges(%d) = %v, %v, want %v", p, got, more, want)
	}
}

func flat64(ranges []checkpoint.OffsetRange) (out []int64) {
	for _, r := range ranges {
		out = append(out, r.From, r.To)
	}
	return out
}

func TestDeliveredRangesLieBehindTheHead(t *testing.T) {
	r := newRig(t, 0, 1)
	r.deliver(0, 9)
	acks := r.issue(0, 19, 29, 39, 49, 59, 69)
	r.take(0, 10)
	r.ranges(0)
	acks[1].Release()
	acks[2].Release()
	r.ranges(0) // no drain has seen it
	r.Drain()
	r.ranges(0, 20, 40)
	acks[4].Done(errSink)
	acks[5].Release()
	r.Drain()
	r.ranges(0, 20, 40, 60, 70)
	acks[0].Release()
	r.Drain()
	r.ranges(0, 60, 70) // up to 39 the watermark can pass
	r.taken(0, 40)
	r.ranges(0, 60, 70)
	acks[3].Release()
	r.Drain()
	if err := r.SkipFailed(0, acks[4].ID()); err != nil {
		t.Fatal(err)
	}
	r.ranges(0)
	r.ranges(1)
	r.ranges(99)
}

func TestDeliveredRangesAreBounded(t *testing.T) {
	r := newRig(t, 0)
	for k, a := range r.issue(0, 9, 19, 29, 39, 49, 59, 69) {
		if k%2 == 1 {
			a.Release()
		}
	}
	r.StartAt(0, 0)
	r.Drain()
	for _, c := range []struct {
		most int
		more bool
		want []int64
	}{
		{-1, true, nil}, {0, true, nil}, {1, true, []int64{10, 20}}, {2, true, []int64{10, 20, 30, 40}},
		{3, false, []int64{10, 20, 30, 40, 50, 60}}, {4, false, []int64{10, 20, 30, 40, 50, 60}},
	} {
		dst := []checkpoint.OffsetRange{{From: 1, To: 10}} // touches the first one
		got, more := r.DeliveredRanges(0, dst, c.most)
		if more != c.more || !slices.Equal(flat64(got[1:]), c.want) || got[0] != dst[0] {
			t.Errorf("at most %d: %v, %v, want %v, %v", c.most, got, more, c.want, c.more)
		}
	}
}

// A position that several batches share is delivered when all of them are.
func TestDeliveredRangesRespectSharedPositions(t *testing.T) {
	for _, c := range []struct {
		offsets   []int64
		delivered string // + for those that are
		want      []int64
	}{
		{[]int64{9, 20, 20, 20, 21}, "-++++", []int64{10, 22}},
		{[]int64{9, 20, 20, 20, 21}, "-+-++", []int64{10, 21}},
		{[]int64{9, 20, 20, 20, 21}, "--+++", []int64{21, 22}}, // the first ends the position before
		{[]int64{9, 20, 20, 20, 21}, "-++-+", []int64{10, 21}},
		{[]int64{9, 20, 20, 20, 21, 30}, "-++-++", []int64{10, 21, 22, 31}},
		{[]int64{9, 20, 20, 20, 21, 21, 30}, "-++-+++", []int64{10, 21, 22, 31}},
		{[]int64{9, 20, 20, 20, 21, 21, 30}, "-++--++", []int64{10, 21, 22, 31}},
		{[]int64{9, 9, 9, 10}, "-+++", []int64{10, 11}},
		{[]int64{9, 9, 9, 10}, "--++", nil},
		{[]int64{9, 9, 9, 10}, "+-++", nil},
	} {
		r := newRig(t, 0)
		r.StartAt(0, 5)
		for k, a := range r.issue(0, c.offsets...) {
			if c.delivered[k] == '+' {
				a.Release()
			}
		}
		r.Drain()
		r.ranges(0, c.want...)
		r.TakeWatermarks(nil)
		r.ranges(0, c.want...)
	}
}

// The first batch of an admission may be a part of the position behind it.
func TestFirstBatchMayRepeatThePositionBeforeIt(t *testing.T) {
	for _, c := range []struct {
		start int64 // -1: not told
		want  []int64
	}{{-1, []int64{42, 51}}, {41, []int64{42, 51}}, {40, []int64{41, 51}}, {0, []int64{41, 51}}} {
		r := newRig(t, 0)
		if c.start >= 0 && !r.StartAt(0, c.start) {
			t.Fatal("StartAt refused")
		}
		for _, a := range r.issue(0, 40, 41, 50)[1:] {
			a.Release()
		}
		r.Drain()
		r.ranges(0, c.want...)
	}
	r := newRig(t, 0)
	if r.StartAt(0, -1) || r.StartAt(7, 5) {
		t.Error("StartAt accepts nonsense")
	}
}

// naiveRanges looks at every offset by itself.
func naiveRanges(offsets []int64, delivered []bool, start int64) (out []int64) {
	head := slices.Index(delivered, false)
	if head < 0 {
		return nil
	}
	before := func(i int) int64 {
		if i == 0 {
			return start - 1
		}
		return offsets[i-1]
	}
	counts := func(i int) bool {
		if !delivered[i] {
			return false
		}
		// All repeats of the position before it.
		for j := i - 1; j >= 0 && offsets[j] == before(i) && before(j) == offsets[j]; j-- {
			if !delivered[j] {
				return false
			}
		}
		return true
	}
	for i := head + 1; i < len(offsets); i++ {
		if offsets[i] == before(i) || !counts(i) {
			continue
		}
		if n := len(out); n > 0 && out[n-1] == before(i)+1 {
			out[n-1] = offsets[i] + 1
		} else {
			out = append(out, before(i)+1, offsets[i]+1)
		}
	}
	return out
}

func TestDeliveredRangesAgainstEveryOffset(t *testing.T) {
	rounds := 400
	if testing.Short() {
		rounds = 100
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range rounds {
		r := newRig(t, 0)
		checkpoint.SetFoldFrom(r.Checkpointer, rng.IntN(100))
		n, step, open := 1+rng.IntN(1000), 1+rng.Int64N(3), 1+rng.IntN(200)
		offsets, delivered := make([]int64, n), make([]bool, n)
		start := 10 + rng.Int64N(2)
		last := int64(9) + rng.Int64N(3)
		for k := range offsets {
			offsets[k] = last
			last += rng.Int64N(step + 1)
		}
		r.StartAt(0, start)
		acks := r.issue(0, offsets...)
		for _, k := range rng.Perm(n) {
			if rng.IntN(open) != 0 {
				acks[k].Release()
				delivered[k] = true
			}
			if rng.IntN(50) == 0 {
				r.Drain()
				r.TakeWatermarks(nil)
			}
		}
		r.Drain()
		want := naiveRanges(offsets, delivered, start)
		r.ranges(0, want...)
		r.TakeWatermarks(nil)
		r.ranges(0, want...)
	}
}

func TestFormattedRangesAreReadBack(t *testing.T) {
	for _, ranges := range [][]checkpoint.OffsetRange{
		nil, {{0, 1}}, {{0, math.MaxInt64}}, {{math.MaxInt64 - 1, math.MaxInt64}}, {{5, 7}, {8, 9}, {1 << 40, 1 << 50}},
	} {
		text, kept, err := checkpoint.FormatRanges(ranges, 0)
		if err != nil || kept != len(ranges) {
			t.Fatalf("FormatRanges(%v) = %q, %d, %v", ranges, text, kept, err)
		}
		got, err := checkpoint.ParseRanges(text)
		if err != nil || !slices.Equal(got, ranges) {
			t.Fatalf("ParseRanges(%q) = %v, %v, want %v", text, got, err, ranges)
		}
	}
}

func TestFormatRangesKeepsTheLowestThatFit(t *testing.T) {
	var ranges []checkpoint.OffsetRange
	for k := range int64(2000) {
		ranges = append(ranges, checkpoint.OffsetRange{From: k*k*100 + 1, To: k*k*100 + 50})
	}
	before := 0
	for limit := range 6000 {
		text, kept, err := checkpoint.FormatRanges(ranges, limit)
		most := limit
		if limit == 0 {
			most = checkpoint.RangesLimit
		}
		if err != nil || len(text) > most || (kept == 0) != (text == "") {
			t.Fatalf("limit %d: %d bytes, kept %d, %v", limit, len(text), kept, err)
		}
		if limit > 0 && kept < before {
			t.Fatalf("limit %d keeps %d ranges, one less kept %d", limit, kept, before)
		}
		if limit > 0 {
			before = kept
		}
		if got, err := checkpoint.ParseRanges(text); err != nil || !slices.Equal(got, ranges[:kept]) {
			t.Fatalf("limit %d: parsed %d ranges, %v", limit, len(got), err)
		}
	}
	if text, kept, _ := checkpoint.FormatRanges(ranges, 0); kept < 500 || len(text) < checkpoint.RangesLimit-10 {
		t.Errorf("%d bytes hold %d ranges", len(text), kept)
	}
	for _, limit := range []int{-1, math.MinInt} {
		if text, kept, err := checkpoint.FormatRanges(ranges, limit); text != "" || kept != 0 || err != nil {
			t.Errorf("limit %d: %q, %d, %v", limit, text, kept, err)
		}
	}
}

func TestFormatRangesRefusesDisorder(t *testing.T) {
	for _, ranges := range [][]checkpoint.OffsetRange{
		{{-1, 5}}, {{5, 5}}, {{5, 4}}, {{0, 5}, {5, 6}}, {{0, 5}, {4, 6}}, {{10, 20}, {0, 5}}, {{math.MinInt64, math.MaxInt64}},
	} {
		for _, limit := range []int{0, 1} {
			if text, kept, err := checkpoint.FormatRanges(ranges, limit); !errors.Is(err, checkpoint.ErrRanges) || text != "" || kept != 0 {
				t.Errorf("FormatRanges(%v) = %q, %d, %v", ranges, text, kept, err)
			}
		}
	}
}

// What is not ours, cut off or changed is refused: a wrong range would skip
// records.
func TestParseRangesRefusesGarbage(t *testing.T) {
	good, _, err := checkpoint.FormatRanges([]checkpoint.OffsetRange{{5, 900}, {1000, 20_000}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	bad := []string{"host-17", "tidemark1", "tidemark1:", "tidemark2" + good[9:], " " + good, good + "\n", good + "=", good[:12] + "\n" + good[12:]}
	for n := 1; n < len(good); n++ {
		bad = append(bad, good[:n])
	}
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for n := len("tidemark1:"); n < len(good); n++ {
		for _, c := range alphabet {
			if byte(c) != good[n] {
				bad = append(bad, good[:n]+string(c)+good[n+1:])
			}
		}
	}
	for _, text := range bad {
		if got, err := checkpoint.ParseRanges(text); !errors.Is(err, checkpoint.ErrRanges) || got != nil {
			t.Fatalf("ParseRanges(%q) = %v, %v", text, got, err)
		}
		if d, err := checkpoint.RestoreDelivered(0, text); !errors.Is(err, checkpoint.ErrRanges) || !d.Empty() {
			t.Fatalf("RestoreDelivered(%q) = %v, %v", text, d, err)
		}
	}
	changed := strings.Replace(good, good[len(good)-4:], "AAAA", 1)
	for text, want := range map[string]string{
		"host-17":   `checkpoint: invalid delivered ranges: "host-17" does not begin with "tidemark1:"`,
		changed:     "checkpoint: invalid delivered ranges: the checksum of 11 bytes does not match",
		good + "!":  `checkpoint: invalid delivered ranges: what follows "tidemark1:" is not base64`,
		good + "\n": `checkpoint: invalid delivered ranges: what follows "tidemark1:" is not base64`,
	} {
		if _, err := checkpoint.ParseRanges(text); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestRestoredSetIsBoundToTheCommittedOffset(t *testing.T) {
	text, _, err := checkpoint.FormatRanges([]checkpoint.OffsetRange{{20, 40}, {50, 60}, {70, 71}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		committed int64
		want      []int64
	}{
		{0, []int64{20, 40, 50, 60, 70, 71}}, {20, []int64{20, 40, 50, 60, 70, 71}}, {30, []int64{30, 40, 50, 60, 70, 71}},
		{40, []int64{50, 60, 70, 71}}, {70, []int64{70, 71}}, {71, nil}, {math.MaxInt64, nil},
	} {
		d, err := checkpoint.RestoreDelivered(c.committed, text)
		if err != nil || !slices.Equal(flat64(d.Ranges()), c.want) || d.Empty() != (c.want == nil) {
			t.Fatalf("from %d: %v, %v, want %v", c.committed, d.Ranges(), err, c.want)
		}
		in := func(off int64) bool {
			for k := 0; k < len(c.want); k += 2 {
				if c.want[k] <= off && off < c.want[k+1] {
					return true
				}
			}
			return false
		}
		for off := int64(-1); off < 80; off++ {
			if d.Contains(off) != in(off) {
				t.Fatalf("from %d: Contains(%d) is %v", c.committed, off, !in(off))
			}
			all := true
			for to := off; to < 80; to++ {
				if d.Covers(off, to) != all {
					t.Fatalf("from %d: Covers(%d, %d) is %v", c.committed, off, to, !all)
				}
				all = all && in(to)
			}
		}
		end := int64(0)
		if len(c.want) > 0 {
			end = c.want[len(c.want)-1]
		}
		if d.End() != end || !d.Covers(5, 4) {
			t.Fatalf("from %d: End() = %d", c.committed, d.End())
		}
	}
	if d, err := checkpoint.RestoreDelivered(5, ""); err != nil || !d.Empty() || d.Contains(5) {
		t.Errorf("no text: %v, %v", d, err)
	}
}

// FuzzParseRanges: nothing panics, and what is accepted has one text and makes
// sense.
func FuzzParseRanges(f *testing.F) {
	seed, _, _ := checkpoint.FormatRanges([]checkpoint.OffsetRange{{0, 3}, {90, 1 << 40}}, 0)
	f.Add([]byte(seed), false)
	f.Add([]byte{0x80, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, true)
	f.Fuzz(func(t *testing.T, data []byte, sealed bool) {
		text := string(data)
		if sealed { // past the checksum, which random bytes never are
			text = "tidemark1:" + base64.RawURLEncoding.EncodeToString(checkpoint.Seal(data))
		}
		ranges, err := checkpoint.ParseRanges(text)
		if err != nil {
			if !errors.Is(err, checkpoint.ErrRanges) || ranges != nil {
				t.Fatalf("%v, %v", ranges, err)
			}
			return
		}
		again, kept, err := checkpoint.FormatRanges(ranges, math.MaxInt32)
		if err != nil || kept != len(ranges) || again != text {
			t.Fatalf("%v was read from %q and is written as %q, %v", ranges, text, again, err)
		}
	})
}

// What is delivered behind a stuck batch is kept beside the committed offset,
// and a restart skips it.
func ExampleCheckpointer_DeliveredRanges() {
	c := checkpoint.New()
	_ = c.BeginEpoch(1, 0)
	c.StartAt(0, 0)
	issuer := c.Issuer()
	for offset := int64(9); offset < 50; offset += 10 {
		ack, _ := issuer.Issue(0, offset)
		if offset != 19 {
			ack.Release()
		}
	}
	c.Drain()
	committed := c.TakeWatermarks(nil)[0].Offset
	ranges, _ := c.DeliveredRanges(0, nil, 100)
	metadata, _, _ := checkpoint.FormatRanges(ranges, checkpoint.RangesLimit)
	fmt.Println("commit", committed, strings.HasPrefix(metadata, "tidemark1:"), ranges)

	// After a crash.
	done, err := checkpoint.RestoreDelivered(committed, metadata)
	fmt.Println(err, done.Contains(15), done.Contains(20), done.Covers(20, 50))
	// Output:
	// commit 10 true [{20 50}]
	// <nil> false true true
}
