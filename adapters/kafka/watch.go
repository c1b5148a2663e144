package kafka

import "context"

// watchLoop follows acknowledgements while something depends on them: a
// paused partition that waits for room, a revoke or Close that waits for
// batches. Otherwise the interval commit alone drains.
func (s *Source) watchLoop() {
	defer s.wg.Done()
	for {
		select {
		case <-s.watch:
		case <-s.run.ctx.Done():
			return
		}
		for more := true; more; {
			if s.cp.Wait(s.run.ctx) != nil {
				return
			}
			more = s.observe()
		}
	}
}

// observe drains, tells those who wait, and reports whether anybody does.
func (s *Source) observe() (more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advance()
	close(s.progress)
	s.progress = make(chan struct{})
	return s.paused > 0 || s.waiters > 0
}

// await waits until no batch handed out of parts can still move a watermark:
// each is acknowledged, or its partition is stalled, lost or started afresh.
// parts nil means every partition. It returns at once when that holds already,
// and ctx.Err() when ctx is done first.
//
// It waits for less than Checkpointer.WaitIdle: not for batches that are
// queued and that nobody will be handed, nor for those behind a failed one,
// which no commit can cover any more.
func (s *Source) await(ctx context.Context, parts []*partition) error {
	s.mu.Lock()
	s.waiters++
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.waiters--
		s.mu.Unlock()
	}()
	for {
		s.mu.Lock()
		s.advance()
		open := s.unsettled(parts)
		progress := s.progress
		s.mu.Unlock()
		if open == 0 {
			return nil
		}
		signal(s.watch)
		select {
		case <-progress:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// unsettled counts the partitions that batches handed out can still move.
func (s *Source) unsettled(parts []*partition) (n int) {
	if parts == nil {
		parts = s.parts.byID
	}
	for _, p := range parts {
		if p.admitted && !p.settled() {
			n++
		}
	}
	return n
}
