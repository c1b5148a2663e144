// Package peers runs the rows of the queue benchmarks on queues of other
// libraries, beside those of this module, a channel, and a slice under a
// mutex. It is a module of its own, so that nobody else downloads them.
//
//	go test -C bench/peers -run '^$' -bench Queue
//
// The work is the same and the names are the same; what the queues promise is
// not. All keep the order of each producer, which a test checks. Beyond that:
//
// UMPSCQueue of xsync is unbounded, with a consumer that sleeps. It has no
// way to look without waiting, so its rows with consumer=poll sleep as well.
// What was popped stays reachable until its cell is used again. It has no
// Close, no wait with a context, and no length.
//
// MPMCQueue of xsync is bounded, here to as many messages as the channel, and
// takes many consumers, which costs something that one consumer has no use
// for. A full queue refuses, and its driver yields and tries again; an empty
// one has no wait.
//
// The PointerQueue of lscq is unbounded, takes many consumers, and has no
// wait. It carries pointers, so that its driver allocates each message, and it
// allocates once more itself. It is written in assembly for amd64 and arm64,
// and is left out elsewhere, and under the race detector, which does not see
// through it.
package peers
