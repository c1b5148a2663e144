// Package render writes reports, summaries and histories as text for a terminal
// of 120 columns, as Markdown, CSV and JSON.
//
// # CSV
//
// One record for each comparison, cell or point after one header record. Numbers
// have full precision and are in the unit of the record, shares are fractions
// (0.03 is 3 %). What does not exist is empty; an infinite bound is empty too.
//
// # JSON
//
// One object. "version" is 1; it changes when a field changes its meaning or
// goes, not when one is added. "kind" is "compare", "summary" or "history". All
// numbers are JSON numbers in the unit of their table, shares are fractions; NaN
// and infinities are null. A change from a zero base is null with a ratio of
// null and a verdict all the same. "better" is "lower", "higher" or "unknown",
// "regime" is "near", "far", "mixed", "one core" or "unknown", "verdict" is
// "faster", "slower", "same", "undecided" or "not comparable".
//
//	compare: version, kind, options, column_key, machine, warnings, counts,
//	         tables [unit, tidy_unit, better, exact, config, columns,
//	                 rows [name, topic, labels, comparisons
//	                       [column, baseline, base, new, regime, ratio, change,
//	                        change_lo, change_hi, p, p_adjusted, floor, verdict,
//	                        reason, samples_needed]]],
//	         topics [name, config, unit, better, column, baseline, ratio, lo, hi,
//	                 rows, counts]
//	summary: version, kind, options, machine, warnings,
//	         tables [… rows [name, topic, labels,
//	                 cells [column, summary, min, max, spread, regime, warnings]]]
//	history: version, kind, options, order, machine, warnings,
//	         commits [id, label, dirty],
//	         series [name, topic, unit, better, config,
//	                 points [commit (an index of commits), summary, regime]]
//
// Base, new and summary are objects: center, lo, hi, n, near, far, and samples,
// the values that count in run order.
package render
