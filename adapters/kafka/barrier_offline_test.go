package kafka

import (
	"context"
	"crypto/sha256"
	"hash/fnv"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/tidemark-go/tidemark/core/timing"
)

func newLedger(t testing.TB) *timing.Ledger {
	t.Helper()
	l, err := timing.NewLedger(timing.DefaultCapacity)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestNodeIDIsAHashOfTheClientIDAndNeverZero(t *testing.T) {
	// The shortest input whose 64-bit FNV-1a hash is zero.
	zero := "\xd5\x6b\xb9\x53\x42\x87\x08\x36"
	h := fnv.New64a()
	h.Write([]byte(zero))
	if h.Sum64() != 0 {
		t.Fatal("the input's hash is not zero")
	}
	if nodeID(zero) == 0 || nodeID("") == 0 || nodeID("a") == nodeID("b") {
		t.Fatalf("node ids %d, %d, %d, %d", nodeID(zero), nodeID(""), nodeID("a"), nodeID("b"))
	}
}

func TestIdentityIsOfTheClientAndNewWithEachSource(t *testing.T) {
	for name, tt := range map[string]struct {
		cfg  Config
		want string
	}{
		"the client's default":        {Config{}, "kgo"},
		"ClientID":                    {Config{ClientID: "reader"}, "reader"},
		"an option":                   {Config{Options: []kgo.Opt{kgo.ClientID("opted")}}, "opted"},
		"ClientID goes before option": {Config{ClientID: "reader", Options: []kgo.Opt{kgo.ClientID("opted")}}, "reader"},
	} {
		one, _ := offline(t, tt.cfg)
		two, _ := offline(t, tt.cfg)
		a, err := one.LiveProcessIdentity()
		b, err2 := two.LiveProcessIdentity()
		if err != nil || err2 != nil || !a.Canonical() || a.Participant.NodeID != nodeID(tt.want) || a.ProcessTerm != 1 {
			t.Errorf("%s: identity %+v, %v, want node %d", name, a, err, nodeID(tt.want))
		}
		if a.Participant.NodeID != b.Participant.NodeID || a.Participant.BootIncarnation == b.Participant.BootIncarnation {
			t.Errorf("%s: two sources are %+v and %+v, want one node and two boots", name, a, b)
		}
	}
}

func TestDigestIsOfTheSortedPartitions(t *testing.T) {
	var parts partitions
	var owned []*partition
	for _, num := range []int32{10, 2, 0} {
		owned = append(owned, parts.intern("b", num), parts.intern("a", num))
	}
	want := sha256.Sum256([]byte("a/0\na/2\na/10\nb/0\nb/2\nb/10\n"))
	for range 3 {
		if got := assignmentDigest(slices.Clone(owned)); got != want {
			t.Fatalf("digest %x, want %x", got, want)
		}
		owned = append(owned[1:], owned[0])
	}
	if assignmentDigest(owned[1:]) == want || assignmentDigest(nil) == ([sha256.Size]byte{}) {
		t.Fatal("another set has the same digest, or none a digest of zero")
	}
}

func TestAssignmentVersionCountsChanges(t *testing.T) {
	s, p := offline(t, Config{Barriers: Barriers{Ledger: newLedger(t)}})
	ctx := t.Context()
	check := func(what string, version uint64, lines ...string) {
		t.Helper()
		want := sha256.Sum256([]byte(strings.Join(lines, "")))
		if s.assignment.version != version || s.assignment.digest != want {
			t.Fatalf("after %s: version %d, digest %x, want %d and %x", what, s.assignment.version, s.assignment.digest, version, want)
		}
	}
	s.mu.Lock()
	s.retire([]*partition{p}, nil)
	s.mu.Unlock()
	s.onAssigned(ctx, s.cl, map[string][]int32{"in": {1, 0}, "more": {0}})
	check("an assignment", 1, "in/0\n", "in/1\n", "more/0\n")
	s.onAssigned(ctx, s.cl, nil)
	s.onRevoked(ctx, s.cl, nil)
	s.onRevoked(ctx, s.cl, map[string][]int32{"other": {0}})
	s.onLost(ctx, s.cl, map[string][]int32{"in": {7}})
	check("hooks without a change", 1, "in/0\n", "in/1\n", "more/0\n")
	s.onRevoked(ctx, s.cl, map[string][]int32{"in": {1}})
	check("a revoke", 2, "in/0\n", "more/0\n")
	p.start(20)
	if !s.truncated(p, 20, 15) {
		t.Fatal("the loss was ignored")
	}
	check("a truncated log, of which the owner stays", 2, "in/0\n", "more/0\n")
	s.forget("more")
	check("a deleted topic", 3, "in/0\n")
	s.forget("more")
	check("a topic that is not there", 3, "in/0\n")
	s.onLost(ctx, s.cl, map[string][]int32{"in": {0}})
	check("a loss", 4)
	if open, _ := s.cfg.Barriers.Ledger.OpenGuards(); s.attempts != 0 || len(open) != 0 {
		t.Fatalf("%d attempts with nothing to commit, open: %v", s.attempts, open)
	}
}

func TestRoleIsTakenOverAtTheEndOfAJoin(t *testing.T) {
	var role groupRole
	b := role.watch(kgo.CooperativeStickyBalancer())
	if b.ProtocolName() != "cooperative-sticky" || !b.IsCooperative() {
		t.Fatal("not the balancer that it stands for")
	}
	meta := b.JoinGroupMetadata([]string{"in"}, nil, 1)
	member := kmsg.NewJoinGroupResponseMember()
	member.MemberID, member.ProtocolMetadata = "me", meta
	assigned := (&kmsg.ConsumerMemberAssignment{}).AppendTo(nil)
	join := func(asked bool) {
		b.JoinGroupMetadata([]string{"in"}, nil, 1)
		if asked {
			if _, _, err := b.MemberBalancer([]kmsg.JoinGroupResponseMember{member}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, leads := range []bool{false, true, true, false, true} {
		before := role.leads.Load()
		join(!leads)
		join(leads) // the first try did not come to its end
		if role.leads.Load() != before {
			t.Fatalf("join %d: the role changed before the join's end", i)
		}
		if _, err := b.ParseSyncAssignment(assigned); err != nil {
			t.Fatal(err)
		}
		if role.leads.Load() != leads {
			t.Fatalf("join %d: leads is %v, want %v", i, !leads, leads)
		}
	}
}

func TestHistogramsWithoutALedgerAreRefused(t *testing.T) {
	cfg := Config{Brokers: []string{"none:1"}, Group: "group", Topics: []string{"in"}}
	cfg.Barriers.Histograms.LocalBarrier = observer(func(float64) {})
	if _, err := cfg.withDefaults(); err == nil || !strings.Contains(err.Error(), "timing.NewLedger") {
		t.Fatalf("got %v, want an error that says what to do", err)
	}
}

type observer func(float64)

func (o observer) Observe(seconds float64) { o(seconds) }

// delivering makes 10 records of p acknowledged, from the offset after the
// last.
func delivering(t testing.TB, s *Source, p *partition) {
	first := max(p.read, 0)
	s.ingest(fetchOf(first, 10, nil), time.Now())
	b, err := s.Poll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.Ack.Done(nil)
}

// commits does what a commit does, but for the broker.
func commits(s *Source, err error) {
	sent, _, b := s.collect(nil, func() {}, nil, time.Time{})
	for _, c := range sent {
		c.err = err
	}
	if sent != nil {
		_ = s.settle(sent, b)
	}
	b.end()
}

func TestACommitWhoseTimeRanOutSaysSo(t *testing.T) {
	l := newLedger(t)
	s, p := offline(t, Config{Barriers: Barriers{Ledger: l}})
	s.assignmentChanged()
	delivering(t, s, p)
	commits(s, nil) // without a deadline
	delivering(t, s, p)
	const left = 10 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.mu.Lock() // as if somebody held the commit up
	answered := make(chan error)
	go func() { answered <- s.commit(DueContext{ctx, time.Now().Add(left)}, nil, nil) }()
	for len(s.commitSem) == 0 { // it has begun
		time.Sleep(time.Millisecond)
	}
	time.Sleep(left)
	cancel()
	s.mu.Unlock()
	if err := <-answered; err == nil {
		t.Fatal("committed without a broker")
	}
	page, err := l.SnapshotAfter(0, 2)
	if err != nil || len(page.Records) != 2 || page.Records[0].DeadlineExhausted || !page.Records[1].DeadlineExhausted {
		t.Fatalf("%+v, %v, want that the second one's deadline passed", page, err)
	}
}

func TestCommittingWithoutALedgerAllocatesNothingForIt(t *testing.T) {
	measure := func(cfg Config) (idle, busy float64) {
		s, p := offline(t, cfg)
		s.assignment = assignment{version: 1, digest: sha256.Sum256(nil)}
		cycle := func() { delivering(t, s, p); commits(s, nil) }
		for range 20 {
			cycle() // grow what is kept
		}
		return testing.AllocsPerRun(100, func() { commits(s, nil) }), testing.AllocsPerRun(100, cycle)
	}
	l := newLedger(t)
	idle, busy := measure(Config{})
	idleRecorded, busyRecorded := measure(Config{Barriers: Barriers{Ledger: l}})
	if idle != 0 || idleRecorded != 0 {
		t.Errorf("a commit of nothing allocates %v times, with a ledger %v, want none", idle, idleRecorded)
	}
	if busyRecorded != busy+2 {
		t.Errorf("a commit allocates %v times, with a ledger %v, want two more: the barrier and its guard", busy, busyRecorded)
	}
	if page, err := l.SnapshotAfter(0, 1); err != nil || page.NextSequence != 20+101+1 || page.RecordingLossCount != 0 {
		t.Errorf("the ledger has %+v, %v, want a record a commit", page, err)
	}
}
