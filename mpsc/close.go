package mpsc

// Close makes later pushes return false; what was pushed stays poppable.
// A push beside Close is accepted, and then popped, or refused. Close may be
// called more than once and from any goroutine, also from the callback of
// Drain; after any of the calls no push succeeds.
//
// Close is lock-free; its cost grows with the number of open lanes. It does
// not wait for unfinished pushes, but Wait does. Lanes still have to be closed
// by their producers.
func (q *Queue[T]) Close() {
	q.mustBeMade("Close")
	q.closed.Store(true)
	q.closeLanes()
	q.seal()
	q.wake()
}
