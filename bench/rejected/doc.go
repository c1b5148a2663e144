// Package rejected stands above the designs that were measured and not taken.
// The benchmarks of package bench run them next to the shipped packages, and
// the benchmark document gives their figures.
//
//   - queues: a bounded ring, a plain ticket queue and a linked stack, against
//     mpsc.Queue and its producer lanes;
//   - ackstack: a checkpointer with a stack of acknowledgements;
//   - bitmap: a checkpointer with resolutions in a bitmap of their own and a
//     published tail.
package rejected
