// Package parse reads benchmark files with benchfmt and keeps what benchfmt
// passes over in silence: lines that say a benchmark failed, results that do not
// begin their line, bytes that no benchmark writes. An input that cannot be a
// benchmark file is named for what it is, with what to do about it.
//
// It mends one thing: benchfmt leaves a zero or infinite value of "ns/op" in that
// unit and rescales all others to "sec/op". Here a unit is one unit.
package parse
