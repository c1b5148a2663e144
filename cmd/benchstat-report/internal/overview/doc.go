// Package overview summarises each row by itself: median, interval, spread,
// the share of each regime, and what may mislead in it.
package overview
