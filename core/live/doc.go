// Package live serves a page that shows, while it happens, which partitions
// move, which batch holds one back and since when, and how long the checkpoint
// barriers take. It is made like net/http/pprof: mount one handler and look.
//
//	mux.Handle("/live", live.Handler(live.Config{Snapshot: cp.Snapshot, Ledger: ledger}))
//
// The page is one document without any reference to elsewhere. It asks the
// same path for ?format=json once a second, so it can be mounted on any path,
// with or without a prefix that is stripped. Nothing that it does changes
// anything, and what it costs the pipeline is a Checkpointer.Snapshot, a page
// of the ledger and a list of the open guards for each answer; it costs nothing
// while nobody looks.
//
// Offsets and the names of topics are shown to whoever can reach the handler:
// mount it where metrics and profiles are.
//
// # The JSON behind it
//
// GET or HEAD with ?format=json answers with a State. Parameters:
//
//	n       the largest number of partitions, 0 to 10000, default 1000
//	cursor  what Barriers.Cursor said last, for the records after it alone
//
// Other parameters are ignored. A mistake in a request is answered with an
// object whose error says what was given and what is legal: 400 for a
// malformed parameter, 405 for another method. A cursor whose record was
// overwritten, or that is of another process, is no mistake: Barriers.Missed
// and Barriers.Fresh tell.
//
// State.Version grows when a field changes its meaning or goes away. New fields
// can come at any time.
package live
