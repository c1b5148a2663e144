// Package ringbuf is a ring of records that many goroutines append to and many
// page through: fixed capacity, the newest record overwrites the oldest,
// nobody waits for anybody.
//
// Records are numbered 1, 2, 3, … without holes. A reader names the last
// number it has, its cursor, and gets what follows, oldest first, or an error
// that tells exactly what it has missed. No record is ever seen half written.
//
// # Vocabulary
//
// A position is one of the Capacity places of the ring. The record with
// sequence number s belongs to position s mod capacity, in lap s / capacity.
// A buffer is the memory of one record. Positions and buffers are separate:
// each position starts with a buffer of its own, and there are spare ones. A
// holder is a writer that fills a buffer or a reader that copies it.
//
// # The stamp
//
// Each position has one atomic word, {lap, buffer, readers, writing}. It says
// which sequence number the position holds, where, how many readers are
// copying it and whether it is still being written. With L the lap of the
// record to append, b and x buffers and n a number of readers, Append does
//
//	number    next += 1                                     the record is accepted
//	claim     {L-1, b, 0, -}  →  {L, b, 0, writing}         nobody holds b
//	          {older, b, 0, -}  →  {L, b, 0, writing}       a writer before us has not come yet
//	          {older, b, n, -}  →  {L, x, 0, writing}       b is held: x is a spare, b is orphaned
//	          {older, b, 0, writing}  →  {L, x, 0, writing} the same with a stalled writer
//	          {later, …}                                    lapped: accepted and overwritten
//	fill      the record is copied into the buffer, plainly
//	publish   {L, b, 0, writing}  →  {L, b, 0, -}           failed: b was orphaned, let go of it
//
// and a reader of the record in lap L does
//
//	pin       {L, b, n, -}  →  {L, b, n+1, -}
//	          {older, …} or {L, b, 0, writing}              not there yet: the page ends
//	          {later, …}                                    overwritten
//	copy      the record is copied from the buffer, plainly
//	unpin     {L, b, n, -}  →  {L, b, n-1, -}               {later, …}: b was orphaned, let go of it
//
// A buffer that is held is never written by anybody else, so the plain copies
// cannot race. An orphan has a count of holders: whoever took the position
// adds how many the word said there were, each holder takes off one when it
// ends, and the one that arrives at zero puts the buffer among the spares.
//
// The lap has at least 36 bits beside the buffer's number and the count of
// readers, and at least 52 bits together with the position in rings of 2^16
// and more. A buffer also carries the full sequence number, so a reader is
// never misled by a lap that came round. A writer would be only if it were
// stopped in one instruction's gap while others append exactly a multiple of
// 2^36 laps.
//
// The shape is that of the claim-and-publish rings (Vyukov's bounded queue,
// Linux ftrace, Agrona's broadcast buffer), with numbers handed out by
// fetch-and-add. It departs from them where those let a stalled party cost a
// record or a wait: a held position gets another buffer.
//
// # Guarantees
//
//   - Append is lock-free and never waits for a reader or a writer, however
//     long it is stalled. It tries a position again only if another operation
//     on the same position went through meanwhile. A stalled writer delays its
//     own record: pages end before it, until it is published or overwritten.
//   - ReadAfter makes a bounded number of tries and never waits. A stalled
//     reader delays nobody and costs one spare buffer at most.
//   - Next and Capacity are wait-free.
//   - What a goroutine did before Append happens before the return of a
//     ReadAfter that copies the record.
//   - Nothing is allocated after New, except when more than 16 holders are
//     stalled, each for a lap: then more spare buffers are made, and kept.
//     With 65520 spare buffers all held, an append yields the processor until
//     one comes back.
//
// 64 bytes of padding separate the counter that every writer changes from
// the fields that all only read. Positions are not padded: those of
// consecutive records lie apart in memory instead.
package ringbuf
