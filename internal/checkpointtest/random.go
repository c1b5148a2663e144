package checkpointtest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// randomCases compare the subject with the model over random operations.
func randomCases() []testCase {
	return []testCase{
		{"OperationsAgainstTheModel", 0, randomAgainstModel},
	}
}

// randomAgainstModel runs histories of a few thousand steps each. The seed is
// new in every run, printed, and can be set.
func randomAgainstModel(t testing.TB, s Subject) {
	seed := uint64(time.Now().UnixNano())
	if v := os.Getenv("CHECKPOINT_SEED"); v != "" {
		n, err := strconv.ParseUint(v, 10, 64)
		if err != nil {
			t.Fatalf("CHECKPOINT_SEED: %v", err)
		}
		seed = n
	}
	steps := 400_000 >> less(3)
	if v := os.Getenv("CHECKPOINT_STEPS"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil {
			t.Fatalf("CHECKPOINT_STEPS: %v", err)
		}
		steps = n
	}
	t.Logf("CHECKPOINT_SEED=%d CHECKPOINT_STEPS=%d", seed, steps)
	rng := rand.New(rand.NewPCG(seed, 24))
	for done := 0; done < steps; {
		n := min(steps-done, 500+rng.IntN(4000))
		runHistory(t, s, randomBytes{rng}, n)
		done += n
	}
}

// RunBytes runs the history that data spells out: the fuzz target's body.
func RunBytes(t testing.TB, s Subject, data []byte) {
	runHistory(t, s, &givenBytes{data}, len(data))
}

// source yields the bytes that decide a history; ok is false at its end.
type source interface {
	next() (b byte, ok bool)
}

type randomBytes struct{ rng *rand.Rand }

func (r randomBytes) next() (byte, bool) { return byte(r.rng.Uint32()), true }

type givenBytes struct{ rest []byte }

func (g *givenBytes) next() (byte, bool) {
	if len(g.rest) == 0 {
		return 0, false
	}
	b := g.rest[0]
	g.rest = g.rest[1:]
	return b, true
}

const (
	historyPartitions = 6
	historyIssuers    = 4
)

// held is one batch in both worlds.
type held struct {
	n   int // number of its issue, for the log
	sut Ack
	ref ModelAck
}

// history drives a subject and the model with the same operations.
type history struct {
	t     testing.TB
	s     Subject
	src   source
	limit int
	// calm histories fail and rebalance rarely, so that lanes grow old.
	calm bool
	ck   clock

	sut        Checkpointer
	ref        *Model
	sutIssuers []Issuer
	refIssuers []*ModelIssuer
	sutSets    []AckSet
	refSets    []*ModelAckSet

	live []held // unresolved as far as their holders know
	dead []held // resolved: for misuse
	next [historyPartitions]int64
	n    int // batches issued

	log       [64]logEntry
	logged    int
	sutMarks  []mark
	refMarks  []mark
	sutStalls []checkpoint.Stall
	refStalls []checkpoint.Stall
}

type logEntry struct {
	op      string
	a, b, c int64
	out     string
}

func runHistory(t testing.TB, s Subject, src source, steps int) {
	h := &history{t: t, s: s, src: src}
	first, _ := src.next()
	h.calm = first >= 128
	h.limit = []int{0, 0, 0, 1, 3, 17, 64, 200}[first%8]
	cfg := Config{Shards: 1 << (first / 8 % 4), PendingLimit: h.limit, Now: h.ck.now}
	h.sut, h.ref = s.New(cfg), NewModel(cfg)
	for range historyIssuers {
		h.sutIssuers = append(h.sutIssuers, h.sut.Issuer())
		h.refIssuers = append(h.refIssuers, h.ref.Issuer())
	}
	if s.Lacks&LacksAckSet == 0 {
		for range 2 {
			h.sutSets = append(h.sutSets, s.NewAckSet())
			h.refSets = append(h.refSets, new(ModelAckSet))
		}
	}
	for range steps {
		op, ok := src.next()
		if !ok {
			break
		}
		h.step(op)
		h.compare()
	}
	h.finish()
}

// finish resolves everything and compares the end.
func (h *history) finish() {
	for len(h.live) > 0 {
		h.release(len(h.live)-1, nil)
	}
	for k := range h.sutSets {
		h.record("deliver", int64(k), 0, 0)
		h.sutSets[k].Deliver()
		h.refSets[k].Deliver()
	}
	h.drain()
	h.take()
	h.compare()
}

// byte is the next parameter, 0 at the end of the source.
func (h *history) byte() int {
	b, _ := h.src.next()
	return int(b)
}

func (h *history) pick(n int) int { return (h.byte()<<8 | h.byte()) % n }

func (h *history) record(op string, a, b, c int64) {
	h.log[h.logged%len(h.log)] = logEntry{op: op, a: a, b: b, c: c}
	h.logged++
}

func (h *history) outcome(s string) { h.log[(h.logged-1)%len(h.log)].out = s }

// failf ends the case with the tail of the operations.
func (h *history) failf(format string, args ...any) {
	h.t.Helper()
	var b strings.Builder
	for k := max(0, h.logged-len(h.log)); k < h.logged; k++ {
		e := h.log[k%len(h.log)]
		fmt.Fprintf(&b, "\n  %6d %s(%d, %d, %d) %s", k, e.op, e.a, e.b, e.c, e.out)
	}
	h.t.Fatalf("%s\nlimit %d, calm %v, the last of %d operations:%s", fmt.Sprintf(format, args...), h.limit, h.calm, h.logged, b.String())
}

// compare checks everything that can be seen without changing anything.
func (h *history) compare() {
	most, least := 0, 0
	for p := range part(historyPartitions + 1) {
		got, want, low := h.sut.Pending(p), h.ref.Pending(p), h.ref.drainedPending(p)
		if h.s.Lacks&LacksEagerPending == 0 {
			low = want
		}
		if got < low || got > want {
			h.failf("Pending(%d) = %d, want %d…%d", p, got, low, want)
		}
		most, least = max(most, want), max(least, low)
	}
	if got := h.sut.MaxPending(); got < least || got > most {
		h.failf("MaxPending() = %d, want %d…%d", got, least, most)
	}
	h.sutStalls, h.refStalls = h.sut.Stalled(h.sutStalls[:0]), h.ref.Stalled(h.refStalls[:0])
	if !slices.EqualFunc(h.sutStalls, h.refStalls, equalStalls) {
		h.failf("Stalled() = %+v, want %+v", h.sutStalls, h.refStalls)
	}
}

func equalStalls(a, b checkpoint.Stall) bool {
	return a.Partition == b.Partition && a.Batch == b.Batch && a.LastOffset == b.LastOffset && a.Since.Equal(b.Since)
}

// sentinels are the errors that must be the same in both worlds.
var sentinels = []error{
	checkpoint.ErrEpochNotIncreasing, checkpoint.ErrNoEpoch, checkpoint.ErrPartitionAdmitted, checkpoint.ErrPartitionOwned,
	checkpoint.ErrOffsetRange, checkpoint.ErrOffsetRegressed, checkpoint.ErrPendingLimit,
}

func (h *history) sameError(what string, got, want error) {
	h.t.Helper()
	if (got == nil) != (want == nil) {
		h.failf("%s = %v, want %v", what, got, want)
	}
	for _, s := range sentinels {
		if errors.Is(got, s) != errors.Is(want, s) {
			h.failf("%s = %v, want %v", what, got, want)
		}
	}
}
