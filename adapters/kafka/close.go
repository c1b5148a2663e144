package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Close stops fetching, waits until ctx is done for the batches that Poll
// returned to be resolved, commits what was acknowledged and leaves the
// group. Batches that Poll has not returned are dropped; they and everything
// unresolved or failed stay uncommitted. A failed batch does not hold Close
// up: its partition cannot move any more.
//
// The error wraps ErrUnresolved when ctx ended the wait, and ErrUncommitted
// when the last commit failed; the Source is closed in any case. Every Close
// returns the same. When ctx is done already, Close only commits and leaves.
// Committing and leaving take milliseconds, but wait for a broker that does
// not answer: up to 5 seconds after ctx is done, and 30 seconds at most.
func (s *Source) Close(ctx context.Context) error {
	s.mu.Lock()
	first := !s.closing
	if first {
		s.closing = true
		close(s.closingC)
	}
	s.mu.Unlock()
	if !first {
		select {
		case <-s.closedC:
			return s.closeErr
		default:
		}
		select {
		case <-s.closedC:
			return s.closeErr
		case <-ctx.Done():
			return fmt.Errorf("kafka: waiting for another Close: %w", ctx.Err())
		}
	}
	defer close(s.closedC)
	s.closeErr = s.shut(ctx)
	return s.closeErr
}

const (
	// closeGrace is what the last commit and the leave get when Close's
	// context is done; closeLimit is what they get at most.
	closeGrace = 5 * time.Second
	closeLimit = 30 * time.Second
	// staticLeave in place of a member epoch is a leave that keeps the
	// member's partitions for it.
	staticLeave = -2
)

func (s *Source) shut(ctx context.Context) error {
	var errs []error
	// The poll in flight may be waiting for a hook, and the hook for batches
	// that were handed out; so wait for those with it.
	s.fetch.stop()
	s.mu.Lock()
	owned := s.owned()
	dropped := s.unqueue(nil, owned...)
	s.mu.Unlock()
	deadline, _ := ctx.Deadline()
	b := s.beginLastBarrier(nil, deadline)
	defer b.end()
	if err := s.await(ctx, nil); err != nil {
		s.mu.Lock()
		n := s.unsettled(nil)
		s.mu.Unlock()
		errs = append(errs, fmt.Errorf("%w in %d partitions: %w", ErrUnresolved, n, err))
	}
	select {
	case <-s.fetchDone:
	case <-ctx.Done():
	}
	// From here on a revoke commits without waiting. The last commit and the
	// leave have their own time: a ctx that is done ends the wait for
	// batches, not what can still be saved.
	s.wait.stop()
	last, cancel := context.WithTimeout(s.last.ctx, closeLimit)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(closeGrace, s.last.stop) })()
	commitErr := s.commitWithRetry(last, nil, b)
	b.end()
	if err := s.leave(last); err != nil {
		s.log.Warn("leaving the group; it waits for this member until the session times out", "err", err)
	}
	s.last.stop()
	s.run.stop()
	s.cl.CloseAllowingRebalance()
	s.wg.Wait()
	s.mu.Lock()
	s.retire(s.owned(), dropped)
	unsaved := s.unsaved
	s.mu.Unlock()
	if commitErr != nil {
		errs = append(errs, fmt.Errorf("%w: %w", ErrUncommitted, commitErr))
	} else if unsaved > 0 {
		errs = append(errs, fmt.Errorf("%w: %d partitions were given up meanwhile", ErrUncommitted, unsaved))
	}
	return errors.Join(errs...)
}

// leave takes the member out of its group. A static member of a KIP848 group
// stays, and says that the next one with its instance id may take its place:
// the client leaves the instance id out, which brokers refuse, so it is said
// again. Without it, that next one would wait until the session times out.
func (s *Source) leave(ctx context.Context) error {
	err := s.cl.LeaveGroupContext(ctx)
	if s.cfg.Protocol != KIP848 || s.cfg.InstanceID == "" || !errors.Is(err, kerr.InvalidRequest) {
		return err
	}
	req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	req.Group, req.InstanceID = s.cfg.Group, &s.cfg.InstanceID
	req.MemberID, _ = s.cl.GroupMetadata()
	req.MemberEpoch = staticLeave
	resp, err := req.RequestWith(ctx, s.cl)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(resp.ErrorCode)
}

// owned returns the partitions that are tracked now.
func (s *Source) owned() (parts []*partition) {
	for _, p := range s.parts.byID {
		if p.admitted {
			parts = append(parts, p)
		}
	}
	return parts
}
