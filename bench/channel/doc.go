// Package channel is the baseline that the benchmarks compare with: the same
// checkpointer and the same queue, built the usual way, on Go channels.
//
// Checkpointer keeps the semantics of core/checkpoint and shares its types
// and errors. It has a channel of registrations, a channel of resolutions and
// one map of trackers: an issuer sends a registration and then allocates the
// batch's shared state, the last release sends the resolution, and Drain
// receives from both channels. A resolution can be received before its
// registration, because the two travel separately. The registration was sent
// first, so a second pass over the registrations always finds it.
//
// What the design itself costs is what the benchmarks show: two channel
// operations and one allocation per batch, and two map look-ups in Drain.
// Nothing is added to that. One thing differs in behaviour: a channel is
// bounded, so Issue and Release block while theirs is full (WithBuffer).
package channel
