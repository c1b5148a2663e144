package history

import (
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/pair"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/verdict"
)

// Commit is one place on the time axis.
type Commit struct {
	// ID is the commit as the files have it, "" where a file has none; then
	// Label is the file's name.
	ID, Label string
	// Dirty says that the tree was changed since that commit.
	Dirty bool
}

// Order says where the order of the commits is from.
type Order string

// The orders, the preferred one first.
const (
	Git       Order = "git"
	Dates     Order = "the dates in the files"
	Arguments Order = "the arguments"
)

// Point is what one commit measured of one row.
type Point struct {
	// Commit is an index of History.Commits.
	Commit  int
	Summary verdict.Summary
	Regime  verdict.Regime
}

// Series is one row over the commits. All its points are of one regime as far
// as each has samples in it; Point.Regime says which.
type Series struct {
	Name, Topic, Unit string
	Better            int
	Config            []pair.KeyValue
	// Points are in commit order; commits that did not measure the row have
	// none.
	Points []Point
}

// History is all rows over all commits.
type History struct {
	Options  verdict.Options
	Order    Order
	Commits  []Commit
	Series   []*Series
	Machine  []pair.KeyValue
	Warnings []string
}
