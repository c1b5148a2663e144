// Package explore runs small concurrent programs in every order of their
// shared operations, or in as many as a bound allows, and says when one of
// them goes wrong.
//
// With the build tag explore the names of internal/atomics stand for the types
// of this package, and so the shipped source of the queues, the ring, the
// checkpointer and the ledger is what runs. "make explore" explores the
// configurations beside that source, in the test files named
// *_explore_test.go.
//
// # What it proves
//
// The operations of sync/atomic have one total order, in Go's memory model
// too. Between two of them a goroutine does nothing that others can see,
// unless there is a data race. So if no order of the atomic operations leads to
// a race or to a wrong result, no execution does. Exhaust tries all orders, but
// for those that differ only in operations that do not depend on each other;
// then what is checked holds for the program that was run: these threads, with
// these calls, on this structure.
//
// An execution goes wrong by
//   - an assertion: Fail in a thread, an error of Check, any panic;
//   - a data race between plain cells that are declared by atomics.Read and
//     atomics.Write: neither access happens before the other by vector clocks,
//     in which a load learns from the store it reads and nothing else;
//   - a deadlock: no thread can go on. A lost wake-up is one, and so is a loop
//     that waits for what nobody does;
//   - a thread that does not end;
//   - a history that cannot be put in a legal order, if the configuration
//     records one: see History and the package linear.
//
// # What it does not prove
//
// It says nothing of more threads, more calls or other sizes than the program
// has. Bound and Random see a part of the executions only. Plain accesses that
// are not declared are not seen; the race detector, which "make test-race" runs
// over the same structures, sees them in the orders that it meets. Memory
// orders weaker than Go's do not exist here, and what the compiler makes of
// the source is taken to be right. Progress is not checked, only that threads
// end: a thread that spins without Pause in one execution for ever is found,
// one that is merely slow is not.
//
// # How it works
//
// Threads are coroutines under one driver, so a process explores one program at
// a time. A thread stops before each shared operation and says which one it is
// and on which object; then whoever got there asks the search who goes next. A
// search is a tree of choices that is walked depth first, each execution from
// the start: Setup makes all state anew. A program must therefore do the same
// in the same order of choices, and that is checked: no maps that are iterated,
// no clocks that decide, no pools, no goroutines, no globals.
//
// Exhaust goes through a tree with sleep sets and source sets: it makes an
// order anew only where two operations depended on each other and nothing
// between them ordered them. A compare-and-swap that would fail counts as a
// load. Pause parks a thread
// until something it has read changes, so that a waiting loop is one step and
// not endlessly many.
//
// # Repeating a failure
//
// A failure prints its schedule: which thread goes, and how often. In the
// package's directory
//
//	TIDEMARK_SCHEDULE='queue-close:ab3a12' go test -tags explore -run TestExploreQueue .
//
// makes that one execution again and prints each operation with its place in
// the source.
//
// # How it is tested itself
//
// Random programs of two and three threads must end in the same states as in an
// interpreter that tries every order naively; relations of dependence that
// miss something must be caught by that; and changes to the shipped source
// that break it must be found by the configurations: see the package mutants.
package explore
