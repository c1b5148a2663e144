// Package verdict compares the columns of each row with its baseline and says
// what comes of it: faster, slower, same, undecided or not comparable.
//
// Medians, their intervals and p-values are benchmath's. The interval of a
// change is a bootstrap of the ratio of the two medians; its generator is
// seeded for each comparison from the seed and the names, so that a report does
// not depend on the order of rows.
//
// A row is faster or slower only if all of three hold: the interval of its
// change excludes zero, the change exceeds the floor, and the p-value holds
// after Holm's correction over the rows of its unit. It is the same only if
// the interval lies within the floor, or the change is significant and below
// the floor. Everything else is undecided, with the number of samples that
// would do.
//
// Samples of two regimes, cores near to each other and far apart, are never
// mixed: a row is compared in the one that has enough samples on both sides, in
// near if both do.
package verdict
