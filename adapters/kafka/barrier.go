package kafka

import (
	"crypto/sha256"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tidemark-go/tidemark/core/timing"
)

// Barriers says where a Source records its commits as checkpoint barriers; see
// the package documentation for what the durations mean. The zero value is
// off, and costs nothing.
type Barriers struct {
	// Ledger keeps a record of each barrier, and lists the open ones. It
	// belongs to one Source: it is bound to the first that it sees, and counts
	// the barriers of another as losses.
	Ledger *timing.Ledger
	// Histograms get the durations of each barrier, right before the record.
	// Observe is called while the next commit waits, so it must not wait.
	Histograms timing.Histograms
}

// check returns what is wrong, or "".
func (b *Barriers) check() string {
	if b.Ledger == nil && b.Histograms != (timing.Histograms{}) {
		return "Barriers has Histograms and no Ledger; make one with timing.NewLedger"
	}
	return ""
}

// processTerm is the term of every Source: it starts once and has a boot
// incarnation of its own.
const processTerm = 1

// identify gives the Source its identity, once its client is there.
func (s *Source) identify() {
	id, _ := s.cl.OptValue(kgo.ClientID).(string)
	s.process = timing.ProcessIdentity{
		Participant: timing.Participant{NodeID: nodeID(id), BootIncarnation: uuid.New()},
		ProcessTerm: processTerm,
	}
}

// nodeID is 53 bits of the FNV-1a hash of a client id, which must not be zero:
// what reads JSON numbers as floating point gets them whole.
func nodeID(clientID string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(clientID)) // a hash takes everything
	return max(h.Sum64()>>11, 1)
}

// LiveProcessIdentity returns who this Source is in the records of its
// barriers: a hash of the client id, a boot incarnation that is new with each
// Open, and term 1. It never fails and never waits, also after Close.
func (s *Source) LiveProcessIdentity() (timing.ProcessIdentity, error) { return s.process, nil }

// barrier is a commit as the ledger sees it. It belongs to one goroutine. The
// methods of a nil barrier do nothing: that is a Source without a ledger.
type barrier struct {
	guard *timing.Guard
	// handed: the offsets were handed to the client, once however often they
	// are sent. answered: the broker accepted them.
	handed, answered bool
}

// beginBarrier begins the next attempt, or returns nil without a ledger. mu is
// held, so what the record says of the assignment is of one moment.
func (s *Source) beginBarrier(deadline time.Time) *barrier {
	b := &s.cfg.Barriers
	if b.Ledger == nil {
		return nil
	}
	s.attempts++
	return &barrier{guard: timing.StartGuard(b.Ledger, b.Histograms, deadline, s.barrierContext)}
}

func (s *Source) barrierContext() (timing.Context, bool) {
	role := timing.Follower
	if s.role.leads.Load() {
		role = timing.Leader
	}
	return timing.Context{
		Process: s.process, Attempt: timing.CanonicalAttempt(s.attempts), Role: role,
		AssignmentVersion: s.assignment.version, AssignmentDigest: s.assignment.digest,
	}, true
}

// beginIntervalBarrier begins the barrier of a commit of parts, or returns nil
// if there is nothing to commit. mu is held.
func (s *Source) beginIntervalBarrier(parts []*partition, deadline time.Time) *barrier {
	if s.cfg.Barriers.Ledger == nil {
		return nil
	}
	if !anyDue(parts) {
		s.advance()
		s.describe(parts)
	}
	if !anyDue(parts) {
		return nil
	}
	return s.beginBarrier(deadline)
}

// beginLastBarrier begins the barrier of parts that are given up, nil meaning
// all. It returns nil if there is no batch to wait for and nothing to commit.
func (s *Source) beginLastBarrier(parts []*partition, deadline time.Time) *barrier {
	if s.cfg.Barriers.Ledger == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advance()
	if parts == nil {
		parts = s.parts.byID
	}
	s.describe(parts)
	waits := s.wait.ctx.Err() == nil && s.unsettled(parts) > 0
	if !waits && !anyDue(parts) {
		return nil
	}
	return s.beginBarrier(deadline)
}

// handOff ends the local barrier: the offsets to commit are fixed.
func (b *barrier) handOff() {
	if b == nil || b.handed {
		return
	}
	b.handed = true
	b.guard.FinishLocalBarrierWithHandoff()
	b.guard.BeginAlignedResume()
}

// resume ends the aligned stage: the broker accepted the commit. One that
// failed ends it when the barrier ends, unless it is sent again before.
func (b *barrier) resume() {
	if b == nil || !b.handed || b.answered {
		return
	}
	b.answered = true
	b.guard.FinishAlignedResume()
}

// end publishes the barrier; only the first call counts.
func (b *barrier) end() {
	if b != nil {
		b.guard.Close()
	}
}

func anyDue(parts []*partition) bool {
	return slices.ContainsFunc(parts, (*partition).due)
}

// assignment identifies a set of owned partitions. Guarded by Source.mu.
type assignment struct {
	version uint64 // how often it changed
	digest  [sha256.Size]byte
}

// assignmentChanged follows a change of what is owned. mu is held.
func (s *Source) assignmentChanged() {
	if s.cfg.Barriers.Ledger == nil {
		return
	}
	s.assignment.version++
	s.assignment.digest = assignmentDigest(s.owned())
}

// assignmentDigest is the SHA-256 of one line a partition, topic/number,
// sorted by topic and number. A topic's name cannot hold a slash.
func assignmentDigest(parts []*partition) [sha256.Size]byte {
	slices.SortFunc(parts, func(a, b *partition) int {
		if c := strings.Compare(a.topic, b.topic); c != 0 {
			return c
		}
		return int(a.num) - int(b.num)
	})
	var text []byte
	for _, p := range parts {
		text = append(append(text, p.topic...), '/')
		text = append(strconv.AppendInt(text, int64(p.num), 10), '\n')
	}
	return sha256.Sum256(text)
}
