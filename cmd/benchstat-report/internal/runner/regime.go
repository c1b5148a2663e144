package runner

import (
	"context"
	"fmt"
	"strings"

	"github.com/tidemark-go/tidemark/bench"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/pair"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/verdict"
)

// enough is how many samples of one regime each arm of a row should have:
// with six the interval of a median is finite.
const enough = 6

// wanted is what enough means for a row that is measured so often.
func wanted(rounds int) int { return min(enough, rounds) }

// count notes how far apart the cores were beside a sample; 0 is for those
// that do not depend on it.
func (a *arm) count(bounce float64) {
	switch verdict.RegimeOf(pair.Sample{Bounce: bounce}, bench.NearBounce) {
	case verdict.Near:
		a.near++
	case verdict.Far:
		a.far++
	default:
		if bounce > 0 {
			a.busy++
		}
	}
}

// lacks reports whether no regime has enough samples of every arm. A row
// without a measured bounce lacks nothing: it would never get any.
func (r *row) lacks(rounds int) bool {
	near, far, measured := rounds, rounds, false
	for _, a := range r.arms {
		if a.failed == nil {
			near, far = min(near, a.near), min(far, a.far)
			measured = measured || a.near+a.far+a.busy > 0
		}
	}
	return measured && max(near, far) < wanted(rounds)
}

// again measures the rows once more that lack samples of one regime, until
// none does, the extra rounds are used up, or the budget is. A row may need
// it because the machine changed while it was measured.
func (r *run) again(ctx context.Context) error {
	lacking := func() (rows []*row) {
		for _, row := range r.rows {
			if row.lacks(row.rounds(r.plan.rounds)) {
				rows = append(rows, row)
			}
		}
		return rows
	}
	rows := lacking()
	if len(rows) == 0 {
		return nil
	}
	if r.Extra > 0 {
		r.say("%s measured again, up to %d times, because too few of their samples are all of near or all of far cores (%v ns):\n  %s",
			counted(len(rows), "row"), r.Extra, float64(bench.NearBounce), list(rows))
	}
	for extra := 0; extra < r.Extra && len(rows) > 0; extra++ {
		for i, row := range rows {
			if r.late(row.round(r.plan.unit)) {
				break
			}
			if err := r.runRow(ctx, row, extra+i, fmt.Sprintf("again %d", extra+1)); err != nil {
				return err
			}
		}
		rows = lacking()
	}
	if len(rows) > 0 {
		r.say("%s without %s of one regime for some arm: compare them with care, or measure them again:\n  %s",
			counted(len(rows), "row"), counted(wanted(r.plan.rounds), "sample"), list(rows))
	}
	return nil
}

// list names rows, a line each.
func list(rows []*row) string {
	var names []string
	for _, row := range rows {
		names = append(names, row.name)
	}
	return strings.Join(names, "\n  ")
}
