package history

import (
	"context"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/pair"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/verdict"
)

// shortID is how many digits of a commit are shown.
const shortID = 12

// place is a commit on its way to its position.
type place struct {
	Commit
	date string
	file int // the first that has it
}

// Of sets the rows of tables in commit order. Dir is where git is asked.
func Of(ctx context.Context, tables *pair.Tables, opt verdict.Options, dir string) *History {
	h := &History{Options: opt, Machine: tables.Machine, Warnings: tables.Notes}
	var places []*place
	index := map[Commit]*place{}
	// Tables come by unit, so that the first appearance in them is not the
	// order of the files.
	order := map[string]int{}
	for i, name := range tables.Columns {
		order[name] = i
	}
	commitOf := commits(tables)
	for _, t := range tables.Tables {
		for _, row := range t.Rows {
			for i, c := range row.Cells {
				for _, s := range samples(c) {
					id := commitOf(s)
					p := index[id]
					if p == nil {
						p = &place{Commit: id, file: len(order)}
						index[id] = p
						places = append(places, p)
					}
					p.date = max(p.date, utc(s.Date))
					p.file = min(p.file, order[t.Columns[i]])
				}
			}
		}
	}
	slices.SortStableFunc(places, func(a, b *place) int { return a.file - b.file })
	h.Order = sortPlaces(ctx, places, dir)
	position := map[Commit]int{}
	for i, p := range places {
		h.Commits = append(h.Commits, p.Commit)
		position[p.Commit] = i
	}
	for _, t := range tables.Tables {
		for _, row := range t.Rows {
			h.Series = append(h.Series, seriesOf(t, row, position, commitOf, opt))
		}
	}
	return h
}

// utc writes a date with a time zone so that dates compare as text. What has
// none stays as it is.
func utc(date string) string {
	if t, err := time.Parse(time.RFC3339, date); err == nil {
		return t.UTC().Format(time.RFC3339)
	}
	return date
}

func samples(c *pair.Cell) []pair.Sample {
	if c == nil {
		return nil
	}
	return c.Samples
}

// commitOf returns where a sample belongs.
func commitOf(s pair.Sample) Commit {
	if s.Commit == "" {
		return Commit{Label: s.File}
	}
	c := Commit{ID: s.Commit, Label: s.Commit, Dirty: s.Dirty}
	if hexID.MatchString(s.Commit) && len(s.Commit) > shortID {
		c.Label = s.Commit[:shortID]
	}
	if s.Dirty {
		c.Label += "+"
	}
	return c
}

// commits returns what tells the commit of a sample. A commit that is cut short
// in one file is that of another file which begins so, if there is one only.
func commits(tables *pair.Tables) func(pair.Sample) Commit {
	full := map[string]string{}
	for _, t := range tables.Tables {
		for _, row := range t.Rows {
			for _, c := range row.Cells {
				for _, s := range samples(c) {
					full[s.Commit] = s.Commit
				}
			}
		}
	}
	ids := slices.Sorted(maps.Keys(full))
	for i, id := range ids {
		if !hexID.MatchString(id) {
			continue
		}
		// Sorted, those that begin with id follow it, and the longest is last
		// if each begins with the one before.
		longest := id
		for _, next := range ids[i+1:] {
			if !strings.HasPrefix(next, id) || !hexID.MatchString(next) {
				break
			}
			if !strings.HasPrefix(next, longest) {
				longest = id // it may be either of two
				break
			}
			longest = next
		}
		full[id] = longest
	}
	return func(s pair.Sample) Commit {
		s.Commit = full[s.Commit]
		return commitOf(s)
	}
}

// sortPlaces sorts by the best order that is known for all of them.
func sortPlaces(ctx context.Context, places []*place, dir string) Order {
	if rank := gitRanks(ctx, places, dir); rank != nil {
		slices.SortStableFunc(places, func(a, b *place) int {
			if d := rank[a.ID] - rank[b.ID]; d != 0 {
				return d
			}
			return dirtyLast(a, b)
		})
		return Git
	}
	if !slices.ContainsFunc(places, func(p *place) bool { return p.date == "" }) {
		slices.SortStableFunc(places, func(a, b *place) int {
			if d := strings.Compare(a.date, b.date); d != 0 {
				return d
			}
			return dirtyLast(a, b)
		})
		return Dates
	}
	return Arguments
}

// dirtyLast puts a changed tree after the commit that it was changed from.
func dirtyLast(a, b *place) int {
	switch {
	case a.ID != b.ID || a.Dirty == b.Dirty:
		return 0
	case b.Dirty:
		return -1
	}
	return 1
}

// hexID is what may be handed to git as a commit: the value is from a file.
var hexID = regexp.MustCompile(`^[0-9a-f]{7,64}$`)

// gitRanks returns the topological place of every commit, or nil if git does
// not know all of them.
func gitRanks(ctx context.Context, places []*place, dir string) map[string]int {
	full := map[string]string{}
	for _, p := range places {
		if !hexID.MatchString(p.ID) {
			return nil
		}
		if full[p.ID] == "" {
			id := git(ctx, dir, "rev-parse", "--verify", "--quiet", p.ID+"^{commit}")
			if id == "" {
				return nil
			}
			full[p.ID] = id
		}
	}
	args := []string{"rev-list", "--topo-order", "--reverse"}
	for _, id := range full {
		args = append(args, id)
	}
	slices.Sort(args[3:])
	at := map[string]int{}
	for line := range strings.Lines(git(ctx, dir, args...)) {
		at[strings.TrimSpace(line)] = len(at) + 1
	}
	ranks := map[string]int{}
	for short, id := range full {
		if at[id] == 0 {
			return nil
		}
		ranks[short] = at[id]
	}
	return ranks
}

// git returns what git prints, or "" if it fails.
func git(ctx context.Context, dir string, args ...string) string {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// seriesOf gathers the samples of a row by commit.
func seriesOf(t *pair.Table, row *pair.Row, position map[Commit]int, commitOf func(pair.Sample) Commit, opt verdict.Options) *Series {
	s := &Series{Name: row.Name, Topic: row.Topic, Unit: t.Unit, Better: t.Better, Config: t.Config}
	byCommit := map[int][]pair.Sample{}
	var at []int
	for _, c := range row.Cells {
		for _, sample := range samples(c) {
			i := position[commitOf(sample)]
			if byCommit[i] == nil {
				at = append(at, i)
			}
			byCommit[i] = append(byCommit[i], sample)
		}
	}
	slices.Sort(at)
	var sides [][]pair.Sample
	for _, i := range at {
		sides = append(sides, byCommit[i])
	}
	regime, kept := verdict.Pick(1, opt.Near, sides...)
	for k, i := range at {
		p := Point{Commit: i, Summary: opt.Summarise(kept[k], t.Exact), Regime: regime}
		if regime == verdict.Mixed {
			// No regime has a sample of every commit: each takes its own.
			own, in := verdict.Pick(1, opt.Near, sides[k])
			p.Regime, p.Summary = own, opt.Summarise(in[0], t.Exact)
		}
		all := opt.Summarise(sides[k], t.Exact)
		p.Summary.NearN, p.Summary.FarN = all.NearN, all.FarN
		s.Points = append(s.Points, p)
	}
	return s
}
