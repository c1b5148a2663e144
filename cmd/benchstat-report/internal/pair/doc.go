// Package pair sorts the results of benchmark files into tables of one unit
// and one configuration each, with a row for each benchmark and a column for
// each of the things that are compared. Filters and projections are benchproc's.
//
// A cell keeps its samples in run order, because benchmath.NewSample sorts the
// slice it is given: whoever makes statistics copies the values first.
//
// What a sample's regime can be told from stands beside it: the metric
// bounce-ns of its line, or a line "bounce-ns: 57.1" of configuration. An input
// whose benchmarks do not depend on the distance between cores says so with
// the configuration line "cores: one" or with "/cores=one" in the name.
//
// Keys that say where a result comes from and not what was measured (see
// Provenance) tell no tables apart, unless a projection names them.
package pair
