// Package runner measures the benchmarks of Go packages so that what the
// machine does in the meantime meets all of what is compared alike.
//
// It builds the test binary of each package, of one tree or of two commits
// (the legs), and runs every benchmark once, briefly: that lists the rows,
// warms the binary, and tells how many iterations of a row fill the wanted
// time. That number is pinned for the whole row. Then every arm of every row,
// which is one implementation of one leg, runs in a process of its own, round
// after round, and within a row the arms come in rotating order.
//
// The result is in the Go benchmark format, with lines of configuration that
// say what was measured and on what, and it is valid at any time: each result
// is written when it is there.
package runner
