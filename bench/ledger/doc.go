// Package ledger holds the ledgers that the benchmarks compare timing.Ledger
// with: the same records and pages, with one lock around a plain ring.
//
// Mutex waits for the lock, writers and readers alike. It loses nothing, and a
// writer can find itself behind a whole page being copied. TryLock does not
// wait: a writer that meets anybody counts a loss, and a reader is told that
// the ledger is busy.
//
// Both keep the rest of timing.Ledger's contract and share its types; a test
// holds them to it. Nothing is added that the lock does not need: pages are
// allocated before it is taken.
package ledger
