package kafka

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kgo"
)

// A member of a classic group that stood still for longer than its session is
// thrown out. Mostly it learns so from a heartbeat, and the client reports its
// partitions as lost. If it learns so while it joins, the client joins once more
// as another member and goes on with what it has, although somebody else may have
// owned that and have committed more. So a member that comes back under another
// name gives everything up, as lost, before it takes anything.

// errOutcast refuses a commit under another name than the one under which
// its partitions were taken.
var errOutcast = errors.New("the group took this member for gone; its partitions are read again from the group's commits")

// membership is part of a Source; mu guards it.
type membership struct {
	// member is the name under which the admitted partitions were taken, empty
	// in a KIP-848 group, whose members keep theirs.
	member string
	// outcast: the client goes on with partitions that were taken under another
	// name, until they are given up.
	outcast bool
}

// memberBalancer passes everything on and looks who joined.
type memberBalancer struct {
	kgo.GroupBalancer
	s *Source
}

// ParseSyncAssignment is asked at the end of each join, before the client
// commits, revokes or takes anything. Told that it has got nothing, the client
// revokes what it has and joins once more.
func (b memberBalancer) ParseSyncAssignment(assigned []byte) (map[string][]int32, error) {
	parsed, err := b.GroupBalancer.ParseSyncAssignment(assigned)
	if err != nil {
		return nil, err
	}
	if name, _ := b.s.cl.GroupMetadata(); b.s.joinedAs(name) {
		b.s.log.Warn("the group took this member for gone and knows it under another name now; it gives up its partitions and joins again", "member", name)
		return map[string][]int32{}, nil
	}
	return parsed, nil
}

// joinedAs notes the name of a join that ended, and reports whether what is
// admitted was taken under another one.
func (s *Source) joinedAs(name string) (outcast bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outcast = false
	if name != s.member {
		for _, p := range s.parts.byID {
			s.outcast = s.outcast || p.admitted
		}
	}
	if !s.outcast {
		s.member = name
	}
	return s.outcast
}

// commitsAs reports what stands against a commit under this name.
func (s *Source) commitsAs(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.member != "" && name != s.member {
		return errOutcast
	}
	return nil
}

func (s *Source) isOutcast() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.outcast
}
