package main

import (
	"strconv"
	"strings"

	"github.com/tidemark-go/tidemark/adapters/kafka/internal/console"
	"github.com/tidemark-go/tidemark/core/timing"
)

// longestShown is how many barriers the summary lists.
const longestShown = 10

// printBarriers prints the longest barriers of the ledger. The source is
// closed, so there are no more to come.
func (d *demo) printBarriers() error {
	longest, last, err := d.barriers.Longest(longestShown)
	if err != nil {
		return err
	}
	fprintf(d.out, "\nThe longest barriers, %d of %s%s", len(longest), console.Count(int64(last.NextSequence-1)), missing(&last))
	if len(longest) == 0 {
		fprintf(d.out, "  there was nothing to commit")
		return nil
	}
	row := func(cells ...any) { fprintf(d.out, "  %9s %9s %13s %13s %13s%s", cells...) }
	row("attempt", "role", "whole", "local", "answer", "")
	for _, r := range longest {
		answer := "none"
		if r.AlignedResume.Valid {
			answer = console.Duration(r.AlignedResume.Duration)
		}
		row(strconv.FormatUint(r.Attempt.Epoch, 10), r.Role.String(),
			console.Duration(r.PipelineStall), console.Duration(r.LocalBarrier), answer, remarks(&r))
	}
	return nil
}

// missing says which barriers the ledger cannot show.
func missing(s *timing.Snapshot) string {
	var text string
	if s.OverwrittenCount > 0 {
		text += "; the ledger retains the last " + console.Count(int64(s.Capacity))
	}
	if s.RecordingLossCount > 0 {
		text += "; " + console.Count(int64(s.RecordingLossCount)) + " left no record"
	}
	return text
}

func remarks(r *timing.Record) string {
	var parts []string
	if !r.DurableTailHandoff {
		parts = append(parts, "  nothing left to commit")
	}
	if r.DeadlineExhausted {
		parts = append(parts, "  deadline passed")
	}
	return strings.Join(parts, ",")
}
