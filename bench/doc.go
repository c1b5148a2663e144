// Package bench measures the queues and the checkpointer of this module
// against the usual ways to build them.
//
// Every benchmark is named BenchmarkTopic/impl=…/key=value/…, so that
// benchstat -col /impl sets the implementations side by side. Code of one
// goroutine runs in b.Loop. Concurrent code runs a fixed total of work on
// goroutines of its own and reports how long one element took on the wall
// clock (ns/msg, ns/batch) and how many passed per second; goroutine start and
// the final drain are inside. What waits at one time is bounded, and equally
// for all implementations.
//
// How long a cache line takes from one core to another and back decides the cross-core
// rows. On virtual machines it changes by a factor of three or more within a
// minute, so each row carries it, as bounce-ns: the larger of a measurement
// just before and one just after. Rows of different regimes must not be
// compared.
//
// cmd/run runs the arms interleaved and prints the comparison; cmd/doc writes
// the tables of the benchmark document from a kept result file.
package bench
