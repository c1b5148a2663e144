package page

import (
	"fmt"
	"strconv"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/verdict"
)

// rules tell how to read a comparison, with the levels that were used.
func rules(o verdict.Options) []string {
	correction := "with Holm's correction for the number of rows of its unit"
	if o.Correct == verdict.None {
		correction = "without a correction for the number of rows"
	}
	return append([]string{
		fmt.Sprintf("Faster or slower is said only if all of three hold: the %s interval of the change excludes no change, the change is larger than the floor (at least %s, more where two runs of one thing differed by more), and p is below %s %s.",
			percent(o.Confidence), floorText(o.Floor), strconv.FormatFloat(o.Alpha, 'g', -1, 64), correction),
		"Same is said if the interval lies within the floor, or if the change is certain and too small to count. Undecided is not the same: too few samples, or too much noise. The number beside it is about how many samples on each side would decide.",
		"A percentage with ± is half the interval of a median. [a, b] is the interval of a change in percent, × a multiple. Faster means better in whatever direction is good for the unit.",
	}, commonRules(o)...)
}

// commonRules hold for every page.
func commonRules(o verdict.Options) []string {
	list := []string{
		fmt.Sprintf("Figures are medians; bands and whiskers are their %s intervals from order statistics, which need six samples. Axes that span more than 50 times are logarithmic.", percent(o.Confidence)),
	}
	if o.Near > 0 {
		list = append(list, fmt.Sprintf("Near and far tell how long a cache line took from one core to another and back beside each sample: near is less than %s ns. Virtual machines switch between the two, and figures of several goroutines change by a factor of two or three with it.", strconv.FormatFloat(o.Near, 'g', -1, 64)))
	}
	return append(list, fmt.Sprintf("Intervals of changes are bootstrapped with seed %d: the same input gives the same page, byte for byte.", o.Seed))
}

func percent(v float64) string { return strconv.FormatFloat(v*100, 'g', 4, 64) + " %" }
