// Package history sets the results of many commits in commit order: for each
// row its median and interval at each commit.
package history
