package queues

import "sync/atomic"

// Stack is a linked stack (Treiber's) of one node per element. The consumer
// takes all of it with one swap and turns it round; push and take-all alone
// have no ABA problem.
type Stack[T any] struct {
	// top is written by producers, by CAS, and by the consumer, by swap.
	top atomic.Pointer[stackNode[T]]
	out *stackNode[T] // consumer only: what was taken, oldest first
}

type stackNode[T any] struct {
	next *stackNode[T]
	v    T
}

// NewStack returns an empty queue.
func NewStack[T any]() *Stack[T] { return new(Stack[T]) }

// Push appends v; it allocates the node.
func (q *Stack[T]) Push(v T) bool {
	n := &stackNode[T]{v: v}
	for {
		n.next = q.top.Load()
		if q.top.CompareAndSwap(n.next, n) {
			return true
		}
	}
}

// take makes what was pushed the consumer's, when it has nothing left.
func (q *Stack[T]) take() {
	if q.out != nil {
		return
	}
	for n := q.top.Swap(nil); n != nil; {
		next := n.next
		n.next, q.out = q.out, n
		n = next
	}
}

// TryPop returns the oldest element.
func (q *Stack[T]) TryPop() (v T, ok bool) {
	q.take()
	n := q.out
	if n == nil {
		return v, false
	}
	q.out = n.next
	return n.v, true
}

// Drain calls f with what was pushed before the call: what is left of an
// earlier take, then one more take.
func (q *Stack[T]) Drain(f func(T)) int {
	n := q.rest(f)
	q.take()
	return n + q.rest(f)
}

func (q *Stack[T]) rest(f func(T)) int {
	count := 0
	for q.out != nil {
		n := q.out
		q.out = n.next
		f(n.v)
		count++
	}
	return count
}
