// Package chart draws the charts of a benchmark report as SVG: lines with
// interval bands, forest plots of changes, and samples in run order.
//
// A chart is a value that says what to draw. [Write] lays it out and writes it
// through one html/template, so that no name can leave the place it is put in.
// The same value always gives the same bytes. Nothing is fetched: no font, no
// script, no style sheet. Colours follow the reader's light or dark setting,
// and every series also has a mark and a dash of its own, for those who do not
// see the colours apart.
//
// Figures that are not finite are not drawn as if they were: a point without a
// value is left out and counted in the note, an interval without an end runs
// to the edge with an arrow or fills the band up to it. An interval of which
// nothing is known, NaN on both sides, is not drawn.
package chart
