// Package checkpointtest holds what every implementation of the checkpointer
// contract must pass: the lock-free one in core/checkpoint and the channel
// baseline in bench.
//
// An implementation becomes a [Subject] through [Adapt], which needs no code
// beyond a constructor as long as the methods have core/checkpoint's names and
// shapes. [Run] runs the whole suite on a subject; what a baseline leaves out
// it declares in Subject.Lacks, and the cases that need it are not run.
//
// [Model] is the reference: one mutex, slices, every rule written out where it
// applies. Random operations are compared with it step by step, and the suite
// itself is tested by breaking copies of it on purpose.
//
// Environment variables steer the long cases: CHECKPOINT_SEED fixes the seed of
// the random operations (a run prints the one it used), CHECKPOINT_STEPS their
// number, and CHECKPOINT_STRESS multiplies the concurrent cases.
package checkpointtest
