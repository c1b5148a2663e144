package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/tidemark-go/tidemark/adapters/kafka/internal/console"
)

// summarize prints what a person needs to check the run. The offsets are
// asked from the broker, the lines counted in the files.
func (d *demo) summarize(ctx context.Context, c *consumption) error {
	ends, committed, err := d.cluster.offsets(ctx, d.topic, d.opts.group)
	if err != nil {
		return fmt.Errorf("summary: %w", err)
	}
	fprintf(d.out, "\nThis run")
	d.printLines(c)
	fprintf(d.out, "\nPartitions, as the broker has them")
	left := d.printPartitions(ends, committed)
	fprintf(d.out, "\nHow it went")
	d.printRun(c)
	if err := d.printBarriers(); err != nil {
		return fmt.Errorf("summary: %w", err)
	}
	found, err := d.coverage(ctx)
	if err != nil {
		return fmt.Errorf("summary: %w", err)
	}
	fprintf(d.out, "\nThe output, read back")
	found.print(d.out, d.in.Lines)
	missing := d.in.Lines - found.seen.Len()
	switch {
	case left > 0 && d.stalls.progress() != "":
		fprintf(d.out, "\nNot finished: %s to go, which wait for a batch that failed.", console.Plural(left, "line"))
	case left > 0:
		fprintf(d.out, "\nNot finished: %s to go. Run the same again to go on.", console.Plural(left, "line"))
	case missing > 0 && d.stalls.passed() > 0:
		fprintf(d.out, "\nFinished, but %s not in the output, of what failed and -skip-failed let pass.", console.Plural(missing, "line"))
	case missing > 0:
		fprintf(d.out, "\nFinished, but %s not in this output: the group %s has committed them in an earlier run\n"+
			"or by another member, into another output. Name another -group to read everything again.",
			console.Plural(missing, "line"), d.opts.group)
	default:
		fprintf(d.out, "\nFinished: everything is committed. The same again would read nothing.")
	}
	return nil
}

func (d *demo) printLines(c *consumption) {
	s := &c.stats
	in, events, dead := s.Fetched.Load(), s.Events.Load(), s.Dead()
	fprintf(d.out, "  lines in       %13s", console.Count(in))
	fprintf(d.out, "  lines out      %13s", console.Count(events))
	fprintf(d.out, "  dead-lettered  %13s%s", console.Count(dead), reasons(map[string]int64{
		"empty": s.Empty.Load(), "oversized": s.Oversized.Load(), "unparsable": s.Unparsable.Load(), "foreign": s.Foreign.Load(),
	}))
	if in == events+dead {
		fprintf(d.out, "  in = out + dead          yes")
		return
	}
	why := "and so not committed"
	if n := d.stalls.passed(); n > 0 {
		why = "-skip-failed let " + console.Plural(n, "batch") + " pass"
	}
	fprintf(d.out, "  in = out + dead           no: %s not written, %s", console.Plural(in-events-dead, "line"), why)
}

func reasons(counts map[string]int64) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if n := counts[name]; n > 0 {
			parts = append(parts, console.Count(n)+" "+name)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "  (" + strings.Join(parts, ", ") + ")"
}

// printPartitions returns how much is not committed.
func (d *demo) printPartitions(ends, committed map[int32]int64) int64 {
	fprintf(d.out, "  partition     committed       log end          left")
	row := func(name string, committed, end int64) {
		fprintf(d.out, "  %9s %13s %13s %13s", name, console.Count(committed), console.Count(end), console.Count(end-committed))
	}
	var allCommitted, allEnds int64
	for _, p := range slices.Sorted(maps.Keys(ends)) {
		row(strconv.Itoa(int(p)), committed[p], ends[p])
		allCommitted += committed[p]
		allEnds += ends[p]
	}
	row("all", allCommitted, allEnds)
	return allEnds - allCommitted
}

func (d *demo) printRun(c *consumption) {
	s, drain := &c.stats, c.source.Drain
	took := c.end.Sub(c.start)
	written := s.Events.Load() + s.Dead()
	fprintf(d.out, "  speed          %s in %s: %s, %s of output", console.Plural(written, "line"), console.Duration(took),
		console.Rate(written, took), console.Bytes(s.Bytes.Load()))
	fprintf(d.out, "  batches        %s done, %s of them after a later one of their partition", console.Count(s.Batches.Load()), console.Count(s.Overtaken.Load()))
	fprintf(d.out, "  disk syncs     %s", console.Count(s.Syncs.Load()))
	fprintf(d.out, "  drains         %s applied, %s stale, %s duplicate, %s unknown", console.Count(int64(drain.Applied)),
		console.Count(int64(drain.StaleEpoch)), console.Count(int64(drain.Duplicates)), console.Count(int64(drain.Unknown)))
	fprintf(d.out, "  commits        %s accepted, %s failed; %s", console.Count(int64(c.source.Commits)), console.Count(int64(c.source.CommitFailures)),
		console.Plural(int64(c.source.Pauses), "pause"))
	fprintf(d.out, "  fetch→commit   %s", percentiles(c.tracker.Latency()))
	if peak, ok := peakMemory(); ok {
		fprintf(d.out, "  peak memory    %s", console.Bytes(peak))
	}
}

// samplesBeyond is how many samples have to lie beyond a percentile for it to
// say anything.
const samplesBeyond = 10

func percentiles(h *hdrhistogram.Histogram) string {
	n := h.TotalCount()
	if n == 0 {
		return "no batch was committed"
	}
	var parts []string
	for _, p := range []float64{50, 90, 99, 99.9} {
		if float64(n)*(100-p)/100 < samplesBeyond {
			break
		}
		parts = append(parts, fmt.Sprintf("p%v %s", p, micros(h.ValueAtQuantile(p))))
	}
	parts = append(parts, "max "+micros(h.Max()))
	return strings.Join(parts, ", ") + " (" + console.Plural(n, "batch") + ")"
}

func micros(n int64) string { return console.Duration(time.Duration(n) * time.Microsecond) }

// peakMemory is the most memory this process ever had resident, where the
// system tells.
func peakMemory() (int64, bool) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, false
	}
	_, rest, ok := strings.Cut(string(status), "VmHWM:")
	fields := strings.Fields(rest)
	if !ok || len(fields) == 0 {
		return 0, false
	}
	kib, err := strconv.ParseInt(fields[0], 10, 64)
	return kib << 10, err == nil
}
