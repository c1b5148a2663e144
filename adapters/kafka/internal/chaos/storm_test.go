package chaos

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/tidemark-go/tidemark/adapters/kafka"
)

const (
	fewest, most = 2, 4 // members at a time
	// killEvery is how long a storm goes without a kill: some twenty of them in a
	// minute, and a few more of members that are leaving.
	killEvery = 2700 * time.Millisecond
	// step is the longest pause between two disturbances.
	step = 200 * time.Millisecond
)

// storm disturbs a group for a while. What it does, and in which order, is a
// matter of the seed; when things meet is not.
type storm struct {
	*crew
	seed uint64
	rng  *rand.Rand // of the step
	// done counts what was done.
	done map[string]int
	log  []string
	from time.Time
}

func newStorm(c *crew, seed uint64) *storm {
	return &storm{crew: c, seed: seed, done: map[string]int{}, from: time.Now()}
}

func (s *storm) did(what, format string, args ...any) {
	s.done[what]++
	s.log = append(s.log, fmt.Sprintf("%7.3f s  %s %s", time.Since(s.from).Seconds(), what, fmt.Sprintf(format, args...)))
}

// rage goes on for d, or until something is wrong.
func (s *storm) rage(d time.Duration) error {
	nextKill := killEvery
	for n := uint64(0); s.o.violated() == "" && time.Since(s.from) < d; n++ {
		s.rng = rand.New(rand.NewPCG(s.seed, n))
		if err := s.producer.produce(s.rng); err != nil {
			return err
		}
		if err := s.disturb(); err != nil {
			return err
		}
		if time.Since(s.from) > nextKill && len(s.live) > 0 {
			s.kill(s.oneOf())
			nextKill += killEvery
		}
		time.Sleep(time.Duration(s.rng.Int64N(int64(step))))
		s.thaw(false)
		if err := s.check(); err != nil {
			return err
		}
	}
	return nil
}

func (s *storm) oneOf() *process { return s.live[s.rng.IntN(len(s.live))] }

// disturb does one thing.
func (s *storm) disturb() error {
	n := s.rng.IntN(100)
	switch {
	case len(s.live) < fewest || n < 15 && len(s.live) < most:
		return s.join()
	case n < 18: // more at once
		for len(s.live) < most {
			if err := s.join(); err != nil {
				return err
			}
		}
	case n < 28:
		p := s.oneOf()
		s.did("leave", "of member %d", p.number)
		s.leave(p)
	case n < 31: // killed while it leaves
		p := s.oneOf()
		s.leave(p)
		time.Sleep(time.Duration(s.rng.IntN(20)) * time.Millisecond)
		s.kill(p)
	case n < 41:
		s.freeze(s.oneOf())
	case n < 45:
		s.did("restart", "of the brokers")
		return s.host.restart(time.Duration(s.rng.IntN(300)) * time.Millisecond)
	default:
		s.disturbBroker()
	}
	return nil
}

func (s *storm) join() error {
	p, err := s.hire()
	if err == nil {
		s.did("join", "of member %d", p.number)
	}
	return err
}

func (s *storm) kill(p *process) {
	s.did("kill", "of member %d", p.number)
	p.Signal(syscall.SIGKILL)
	s.dismiss(p)
}

// freeze makes a zombie: the group goes on without it, and it does not know.
func (s *storm) freeze(p *process) {
	if !p.frozen.IsZero() {
		return
	}
	d := sessionTimeout + time.Duration(s.rng.Int64N(int64(sessionTimeout)))
	s.did("freeze", "of member %d for %v", p.number, d.Round(time.Millisecond))
	p.Signal(syscall.SIGSTOP)
	p.frozen = time.Now().Add(d)
}

// thaw wakes those whose time has come, or all.
func (s *storm) thaw(all bool) {
	for _, p := range s.live {
		if !p.frozen.IsZero() && (all || time.Now().After(p.frozen)) {
			p.Signal(syscall.SIGCONT)
			p.frozen = time.Time{}
		}
	}
}

var (
	commitErrors = []*kerr.Error{
		kerr.RebalanceInProgress, kerr.IllegalGeneration, kerr.UnknownMemberID, kerr.NotCoordinator,
		kerr.RequestTimedOut, kerr.CoordinatorLoadInProgress,
	}
	classicErrors = []*kerr.Error{kerr.RebalanceInProgress, kerr.IllegalGeneration, kerr.UnknownMemberID, kerr.NotCoordinator}
	kip848Errors  = []*kerr.Error{kerr.FencedMemberEpoch, kerr.UnknownMemberID, kerr.NotCoordinator}
	cutKeys       = []kmsg.Key{
		kmsg.Fetch, kmsg.OffsetCommit, kmsg.OffsetFetch, kmsg.Metadata, kmsg.FindCoordinator,
		kmsg.Heartbeat, kmsg.JoinGroup, kmsg.SyncGroup, kmsg.ConsumerGroupHeartbeat,
	}
)

func oneOf[T any](rng *rand.Rand, from []T) T { return from[rng.IntN(len(from))] }

// disturbBroker does one thing to the brokers that members have to survive.
func (s *storm) disturbBroker() {
	switch s.rng.IntN(6) {
	case 0:
		s.did("coordinators", "move")
		s.host.cluster.RehashCoordinators()
	case 1:
		p, to := int32(s.rng.IntN(partitions)), int32(s.rng.IntN(brokers))
		s.did("leader", "of partition %d moves to broker %d", p, to)
		if err := s.host.move(p, to); err != nil {
			s.o.object("moving a leader: %v", err)
		}
	case 2:
		e, n := oneOf(s.rng, commitErrors), 1+s.rng.IntN(3)
		s.did("refuse", "%d commits with %s", n, e.Message)
		s.host.refuse(e, n)
	case 3:
		key, e := kmsg.Heartbeat, oneOf(s.rng, classicErrors)
		if s.protocol == kafka.KIP848 {
			key, e = kmsg.ConsumerGroupHeartbeat, oneOf(s.rng, kip848Errors)
		}
		s.did("fence", "one member with %s", e.Message)
		s.host.fence(key, e, 1)
	case 4:
		s.did("swallow", "a commit")
		s.host.swallow(kmsg.OffsetCommit)
	case 5:
		key := oneOf(s.rng, cutKeys)
		s.did("cut", "the connection of a %s", key.Name())
		s.host.cut(key)
	}
}
