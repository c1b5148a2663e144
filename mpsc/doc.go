// Package mpsc has lock-free queues of many producers and one consumer.
//
//   - Queue is the general one: unbounded, in the place of a Go channel. Any
//     goroutine pushes with Queue.Push; a goroutine that pushes much opens a
//     Producer, a lane of its own.
//   - InOrder and Inbox serve registration and acknowledgement in one
//     structure: cells are reserved in order, published in any order and taken
//     as the published prefix.
//   - ReadySet is a set of things that have news, each in it at most once.
//
// This page is about Queue and Producer; InOrder, Inbox and ReadySet tell the
// same in their own documentation.
//
// # Vocabulary
//
// A cell is a place for one element, a segment an array of cells, the shared
// chain the list of segments that Queue.Push fills. A push claims a cell, writes
// its element and publishes it; between claim and publication it is unfinished.
// A gap is an unfinished cell that the consumer has passed. A lane is a
// producer's own list of segments. The consumer is the goroutine that makes a
// consumer call: TryPop, Drain, DrainTo or Wait. Different goroutines may be
// the consumer in turn, never two at once: a call inside another's window
// panics, also one from the callback of Drain and one beside a parked Wait.
//
// # Progress
//
//	Push         lock-free: a claim is one fetch-add; only a full segment makes
//	             it try again, and then other pushes have succeeded
//	lane pushes  wait-free: a plain write and one CAS that fails once at most
//	Producer     lock-free; a new list is tried again when another lane came first
//	TryPop       never waits
//	Drain        never waits; it ends even if producers or its callback push on
//	DrainTo      like Drain
//	Len          wait-free
//	Close        lock-free; it retries only because a push succeeded
//	Wait         blocks, which is its purpose
//
// Memory comes from the allocator when no kept segment is free; what the
// allocator and the garbage collector do is outside these statements.
//
// A producer that stalls, or is preempted, in the middle of Push delays its own
// element and nothing else: the consumer passes the gap, and other producers
// append the segment it was about to append. While it stalls the segment of
// its cell cannot be used again; if it stalls while it appends a segment, no
// segment of the shared chain is, and pushes allocate. A stalled consumer
// delays no producer; the queue grows.
//
// # Order
//
// The elements that one goroutine pushes with Push are popped in that order,
// and so are those of one Producer. Between goroutines, between lanes, and
// between Push and a lane of the same goroutine there is no order.
//
// Drain and DrainTo take what was published before the call, and Drain nothing
// that its callback pushes. Elements behind an unfinished push may be left,
// but of sixteen consecutive calls that have room for them one takes them.
// TryPop has no such allowance, and the first call after a Wait that returned
// nil finds an element, if it has room.
//
// # Happens before
//
// In the terms of the Go memory model: what a goroutine does before a push
// happens before the call that pops its element returns it, or passes it to
// the callback. The end of a consumer call happens before the next consumer
// call. A push that a Close made fail happens after the beginning of that
// Close; a Wait that returns ErrClosed returns after it. Popping is no edge
// back to the producer.
//
// # Allocation and memory
//
// Amortised, no call allocates while the backlog fits the segments that the
// queue holds or keeps for reuse, but Producer and the consumer call that takes
// a closed lane off the list. Nobody waits for the kept segments: a goroutine
// that finds others at them, a few times in a row, allocates. Emptied segments are kept up
// to WithMaxFree, 16 by default, together of the shared chain and of lanes;
// the rest is left to the garbage collector, so memory returns after a burst.
// With the defaults and 8-byte elements that is less than 256 KiB. Besides,
// the chain holds the segment it stands in, and so does each open lane, and a
// closed one as long as its owner keeps the Producer and was refused no push.
// First segments are small.
//
// A cell is zeroed when its element is popped, and an element that is refused
// leaves nothing behind, so the queue references no element it does not hold.
// For element types without pointers the zeroing is left out.
//
// # What a call costs
//
// Push makes two atomic read-modify-writes or stores on shared lines, a lane's
// push one on a line of its own, PushBatch one for the batch. A consumer call
// adds two for its window. Len, Drain, DrainTo, TryPop and Wait look at every
// open lane, TryPop only if it needs to. Close and Producer walk or copy the
// list of lanes. Fields that different sides write are kept a cache line apart
// (see internal/pad); cells are not padded: neighbours are claimed by
// producers that contend for the claim word anyway.
//
// # Sources
//
// The shared chain follows the segment queues that take tickets by fetch-add:
// A. Morrison and Y. Afek, Fast Concurrent Queues for x86 Processors (LCRQ,
// PPoPP 2013) and C. Yang and J. Mellor-Crummey, A Wait-free Queue as Fast as
// Fetch-and-Add (PPoPP 2016). Ours has one consumer, which skips unfinished
// cells instead of poisoning them, stamps cells with the use of their segment
// so that it resets nothing, and has a base index in the claim word. Segments
// are linked as in M. Michael and M. Scott, Simple, Fast, and Practical
// Non-Blocking and Blocking Concurrent Queue Algorithms (PODC 1996); they are
// used again when a count of the goroutines that append reads zero, in the
// manner of a grace period, and a passed segment links to itself as in
// java.util.concurrent's ConcurrentLinkedQueue. Lanes are D. Vyukov's
// unbounded single-producer single-consumer queue with a counted tail, which
// Close can seal.
package mpsc
