// Package bench measures the queues and the checkpointer of this module
// against the usual ways to build them.
//
// Every benchmark is named BenchmarkTopic/impl=…/key=value/…, so that
// benchstat -col /impl sets the implementations side by side. Code of one
// goroutine runs in b.Loop. Concurrent code runs a fixed total of work on
// goroutines of its own and reports how long one element took on the wall
// clock (ns/msg, ns/batch) and how many passed per second; goroutine start and
// the final drain are inside. What waits at one time is bounded, and equally
// for all implementations. Rows with procs=N run with that GOMAXPROCS.
//
// Latency rows have one producer with two million operations a second to do,
// and a consumer that pauses for 10 ms again and again, or never (pause=0ms). A
// latency counts from the time at which the operation was due, so that what was
// due while another one stalled is late as well. It includes a reading or two
// of the clock, some 20 ns each. p50-ns to p99.9-ns are told as far as ten
// samples lie beyond them, and max-ns always. In a pause a channel of 4,096
// messages is full after 2 ms and one of 16,384 batches after 8 ms; a larger one
// would block later, and in a longer pause longer. While the system runs
// something else in the place of a producer that only looks at the clock, the
// schedule stands still; a row in which that is more than a twentieth of the time
// logs that the machine is too busy for latencies.
//
// How long a cache line takes from one core to another and back decides the cross-core
// rows. On virtual machines it changes by a factor of three or more within a
// minute, so each row carries it, as bounce-ns: the larger of a measurement
// just before and one just after. Rows of different regimes must not be
// compared.
//
// The command benchstat-report runs the arms interleaved and compares them;
// cmd/figures prints the targets and writes the tables of the benchmark document
// from a kept result file.
package bench
