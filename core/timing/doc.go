// Package timing keeps exact evidence of how long checkpoint barriers pause a
// pipeline.
//
// An engine pauses its pipeline for every checkpoint barrier. A Guard measures
// one pause and, when it closes, gives it to histograms and leaves one exact
// Record in a Ledger: fixed capacity, in memory, for the life of the process.
// Diagnostics page through the ledger by cursor, with ReadPage or over HTTP
// with Handler, so they can say which attempt took how long, where a histogram
// only knows how many did. The pipeline's goroutine never waits for any of it.
//
// # Vocabulary
//
// An attempt is one try to take a checkpoint; its pause has a local part (the
// local barrier) and, if the attempt handed off a durable tail, perhaps a wait
// for the other processes (the aligned resume). An observation is what is
// known about one pause. A record is an observation that was accepted, with
// its sequence number: 1, 2, 3, … without holes. A loss is an observation that
// left no record; losses are counted. A cursor is the last sequence number
// that a client has, 0 for none; it belongs to one process generation.
//
// # What a reader can rely on
//
//   - Every record is whole, and pages are consecutive: records are missing
//     only where an error says that they were overwritten, up to which one.
//   - Next minus one is the number of accepted records; with the count of
//     losses it accounts for every pause that was closed.
//   - Readers make no writer lose a record or wait, however slow they are.
//   - A cursor of another process generation is an error, never an empty page.
//   - A barrier that is stuck has no record yet. Ledger.OpenGuards lists it
//     with its age.
//
// A client that falls behind a full ledger gets a CursorOverwrittenError with
// the oldest record retained. By the time it asks again that one may be gone
// as well, so it should resume a little past the oldest: by an eighth of the
// capacity, say. The example of CursorOverwrittenError does.
//
// # Progress
//
// TryRecord, NoteLoss, SnapshotAfter and OpenGuards never wait and may be
// called from any goroutine. TryRecord is lock-free: it repeats a step only
// if another record or page went through the same position of the ring
// meanwhile. See package ringbuf for how, and for what a stalled goroutine
// can delay: the pages, before its own record, until that is overwritten; no
// writer.
//
// TryRecord allocates nothing except for the identity of the first record
// and, when more than 16 goroutines are stalled in the middle of an operation
// for a whole lap of the ring, more buffers. A page is one allocation, and so
// is a guard.
//
// What a goroutine did before TryRecord happens before the return of a
// SnapshotAfter whose page holds the record.
package timing
