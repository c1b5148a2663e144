// Package mutants shows that the explored configurations find what they are
// for: it breaks the shipped source in known ways, one at a time, and each
// break must be reported with a schedule that makes it again.
//
// A mutant is a change of text in one file, laid over it by go build's
// -overlay: nothing in the tree changes, and no build tag chooses a broken
// form. The tests here hold the texts to the source; the one that builds and
// runs the mutants carries the tag explore and belongs to "make explore".
package mutants
