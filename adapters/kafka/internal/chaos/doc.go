// Package chaos shows that the pipeline of this module delivers at least once
// whatever happens to it. It holds nothing but tests.
//
// The test process runs a Kafka-protocol broker and the sink, so deliveries and
// commits have one order, without clocks: a delivery is noted under a lock
// before its sender is answered, and the broker asks under the same lock before
// it acts on a commit. The members of the consumer group are processes of their
// own, the test binary started again, which run the real pipeline on the real
// source. A seeded storm kills them, freezes them past their session, lets them
// come and go, moves coordinators and leaders, answers with errors or not at
// all, and restarts the broker.
//
// What must hold: every visible record below a commit is in the sink, and every
// one that the commit's metadata calls delivered, which half of the members keep
// there; the group's commit never goes back; nothing is delivered that was not
// produced, and in the end everything is, and committed up to the end of the
// log; one ownership of a partition repeats no more than may be ahead of its
// commit.
//
// Members that commit too much, in the ways that are common, are run as well,
// and must be caught.
package chaos
