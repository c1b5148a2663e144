package render

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/pair"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/verdict"
)

// longestName is how many runes of a column's name are shown in a heading.
const longestName = 16

// short shortens a column's name for a heading; it is whole in the lines above
// the tables.
func short(name string) string {
	if strings.ContainsRune(name, '/') {
		name = filepath.Base(name)
	}
	if n := utf8.RuneCountInString(name); n > longestName {
		r := []rune(name)
		name = "…" + string(r[n-longestName+1:])
	}
	return name
}

// columnsOf returns the columns that are compared to something in a table.
func columnsOf(t *verdict.Table) []string {
	var names []string
	for _, r := range t.Rows {
		for _, c := range r.Comparisons {
			if !slices.Contains(names, c.Column) {
				names = append(names, c.Column)
			}
		}
	}
	return names
}

// suffix returns the number of processors at the end of all names of a table,
// or "".
func suffix(t *pair.Table) string {
	end := ""
	for i, row := range t.Rows {
		procs := row.Label("gomaxprocs")
		if procs == "" || !strings.HasSuffix(row.Name, "-"+procs) || i > 0 && end != "-"+procs {
			return ""
		}
		end = "-" + procs
	}
	return end
}

// group is the rows of a topic that stand together.
type group struct {
	// heading is the topic with the parts of the name that all rows share; ""
	// if the topic has one row, which then has its whole name.
	heading string
	labels  map[*pair.Row]string
}

// groupsOf returns the group of each topic of a table, for rows that are shown.
func groupsOf(t *verdict.Table) map[string]*group {
	end := suffix(t.Table)
	parts := map[*pair.Row][]string{}
	rows := map[string][]*pair.Row{}
	for _, r := range t.Rows {
		if slices.ContainsFunc(r.Comparisons, sided) {
			name := strings.TrimPrefix(strings.TrimSuffix(r.Name, end), r.Topic)
			parts[r.Row] = strings.Split(strings.TrimPrefix(name, "/"), "/")
			rows[r.Topic] = append(rows[r.Topic], r.Row)
		}
	}
	groups := map[string]*group{}
	for topic, list := range rows {
		g := &group{labels: map[*pair.Row]string{}}
		groups[topic] = g
		if len(list) == 1 {
			g.labels[list[0]] = strings.TrimSuffix(list[0].Name, end)
			continue
		}
		g.heading = topic
		shared := slices.DeleteFunc(slices.Clone(parts[list[0]]), func(p string) bool {
			return slices.ContainsFunc(list, func(r *pair.Row) bool { return !slices.Contains(parts[r], p) })
		})
		if len(shared) > 0 {
			g.heading += " (" + strings.Join(shared, ", ") + ")"
		}
		for _, r := range list {
			own := slices.DeleteFunc(parts[r], func(p string) bool { return slices.Contains(shared, p) })
			if g.labels[r] = strings.Join(own, "/"); g.labels[r] == "" {
				// Beside -2 and -4 of one benchmark: it ran on one processor.
				g.labels[r] = strings.TrimSuffix(r.Name, end)
			}
		}
	}
	return groups
}

// title heads a table: its unit and what tells it from others.
func title(t *pair.Table) string {
	text := t.Unit + ", " + direction(t.Better)
	if end := suffix(t); end != "" {
		text += ", GOMAXPROCS=" + end[1:]
	}
	if len(t.Config) > 0 {
		text += " (" + configLine(t.Config, ": ", ", ") + ")"
	}
	return text
}

// sided says whether both sides of a comparison were measured.
func sided(c *verdict.Comparison) bool { return c.Base.N > 0 && c.New.N > 0 }

// verdictText is short enough for a column; long reasons stand below the table.
func verdictText(c *verdict.Comparison, o verdict.Options) string {
	noise := ""
	if c.Floor > o.Floor {
		noise = fmt.Sprintf(" (A/A ±%.3g%%)", c.Floor*100)
	}
	if c.Verdict == verdict.Undecided && c.Needed > 0 && c.Regime != verdict.Mixed {
		return fmt.Sprintf("%s, needs ≥%d%s", c.Verdict, c.Needed, noise)
	}
	return string(c.Verdict) + noise
}

// reportGrid sets the comparisons of a table that have two sides.
func reportGrid(t *verdict.Table, o verdict.Options, wide bool) *grid {
	label, p := "p", probability
	if o.Correct == verdict.Holm {
		label = "p adj"
	}
	if t.Exact {
		p = func(float64) string { return "exact" }
	}
	columns := columnsOf(t)
	base, now := "base", "new"
	if len(columns) == 1 {
		now = short(columns[0])
	}
	g := &grid{
		head:     []string{"benchmark", "of", base, "±", now, "±", fmt.Sprintf("change [%s]", percent(o.Confidence)), label, "n", "cores", "verdict"},
		right:    []bool{false, false, true, true, true, true, true, true, true, false, false},
		headings: map[int]string{},
	}
	end, groups := suffix(t.Table), groupsOf(t)
	topic, bases := "", []string{}
	var named *verdict.Row
	for _, row := range t.Rows {
		for _, c := range row.Comparisons {
			if !sided(c) {
				continue
			}
			if !slices.Contains(bases, c.BaseColumn) {
				bases = append(bases, c.BaseColumn)
			}
			name := groups[row.Topic].labels[row.Row]
			if wide {
				name = strings.TrimSuffix(row.Name, end)
			} else if row.Topic != topic {
				topic = row.Topic
				g.heading(groups[topic].heading, short(c.BaseColumn))
			}
			if named == row && !wide {
				name = ""
			}
			named = row
			g.add(name, short(c.Column), number(c.Base.Center, t.Table), plusMinus(c.Base), number(c.New.Center, t.Table), plusMinus(c.New),
				change(c), p(c.Adjusted), sizes(c.Base.N, c.New.N), regime(c.Regime), verdictText(c, o))
		}
	}
	g.fit(columns, bases, wide)
	return g
}

// baseMark stands before the base in a heading.
const baseMark = ", base: "

// heading sets a line before the next row.
func (g *grid) heading(text, base string) {
	if text != "" {
		g.headings[len(g.rows)] = text + baseMark + base
	}
}

// fit drops the columns that say nothing here, or for which there is no room.
func (g *grid) fit(columns, bases []string, wide bool) {
	if len(bases) == 1 {
		g.head[2] = short(bases[0])
		for i, h := range g.headings {
			g.headings[i], _, _ = strings.Cut(h, baseMark)
		}
	}
	if !slices.ContainsFunc(g.rows, func(r []string) bool { return r[9] != none }) {
		g.drop(9)
	}
	if !wide && len(columns) > 1 {
		g.drop(5)
		g.drop(3)
	}
	if len(columns) == 1 {
		g.drop(1)
	}
}

// reasons groups what needs more words than a column has, in order of
// appearance.
func reasons(t *verdict.Table) (list []string, names map[string][]string) {
	names = map[string][]string{}
	end := suffix(t.Table)
	many := len(columnsOf(t)) > 1
	shown := groupsOf(t)
	for _, row := range t.Rows {
		for _, c := range row.Comparisons {
			key := ""
			switch {
			case c.Verdict == verdict.NotComparable:
				key = "not comparable, " + c.Reason
			case c.Verdict == verdict.Undecided && (c.Regime == verdict.Mixed || c.Needed == 0):
				key = "undecided, " + c.Reason
			default:
				continue
			}
			if names[key] == nil {
				list = append(list, key)
			}
			name := strings.TrimSuffix(row.Name, end)
			switch {
			case shown[row.Topic] == nil && many:
				name = row.Topic
			case many:
				name += " (" + c.Column + ")"
			}
			if !slices.Contains(names[key], name) {
				names[key] = append(names[key], name)
			}
		}
	}
	return list, names
}

// topicGrid sets the summary of the topics, and names those that lack their
// base.
func topicGrid(r *verdict.Report) (g *grid, without []string) {
	bases := map[string]bool{}
	configs := map[string][]string{}
	for _, t := range r.Topics {
		bases[t.BaseColumn] = true
		if c := shortConfig(t.Config); !slices.Contains(configs[t.Name], c) {
			configs[t.Name] = append(configs[t.Name], c)
		}
	}
	base := "the base"
	if len(bases) == 1 {
		base = short(r.Topics[0].BaseColumn)
	}
	g = &grid{
		head: []string{"topic", "unit", "of", fmt.Sprintf("ratio to %s [%s]", base, percent(r.Options.Confidence)),
			"faster", "slower", "same", "undec.", "not comp."},
		right: []bool{false, false, false, false, true, true, true, true, true},
	}
	for _, t := range r.Topics {
		name := t.Name
		if len(configs[name]) > 1 {
			name += " (" + shortConfig(t.Config) + ")"
		}
		if t.Rows == 0 && t.Counts.Comparable() == 0 {
			if slices.ContainsFunc(r.Topics, func(x *verdict.Topic) bool { return x.Name == t.Name && x.Counts.Comparable() > 0 }) {
				name += " (" + short(t.Column) + ")"
			}
			if !slices.Contains(without, name) {
				without = append(without, name)
			}
			continue
		}
		text := none
		if t.Rows > 0 {
			text = fmt.Sprintf("%s [%s, %s]", plain3(t.Ratio), plain3(t.Lo), plain3(t.Hi))
			if len(bases) > 1 {
				text = fmt.Sprintf("%s × %s [%s, %s]", plain3(t.Ratio), short(t.BaseColumn), plain3(t.Lo), plain3(t.Hi))
			}
		}
		g.add(name, t.Unit, short(t.Column), text, tally(t.Counts.Faster), tally(t.Counts.Slower),
			tally(t.Counts.Same), tally(t.Counts.Undecided), tally(t.Counts.NotComparable))
	}
	return g, without
}

// shortConfig sets configuration in few words: of a path its end, and no key
// where the value says enough.
func shortConfig(config []pair.KeyValue) string {
	var list []string
	for _, kv := range config {
		value := kv.Key + ": " + kv.Value
		if kv.Key == "pkg" {
			value = path.Base(kv.Value)
		}
		list = append(list, value)
	}
	return strings.Join(list, ", ")
}

// tally formats a number that is mostly 0.
func tally(n int) string {
	if n == 0 {
		return none
	}
	return fmt.Sprint(n)
}

// total is the last line of a report.
func total(r *verdict.Report) string {
	c := r.Counts
	return fmt.Sprintf("%d faster, %d slower, %d same, %d undecided, %d not comparable", c.Faster, c.Slower, c.Same, c.Undecided, c.NotComparable)
}

// rules says by what the verdicts are made.
func rules(r *verdict.Report) string {
	o := r.Options
	text := fmt.Sprintf("changes of more than %s count, p ≤ %v", percent(o.Floor), o.Alpha)
	if o.Noise != nil {
		text = fmt.Sprintf("changes of more than %s and the measured A/A noise count, p ≤ %v", percent(o.Floor), o.Alpha)
	}
	if o.Correct == verdict.Holm {
		text += " by Holm over the rows of a unit"
	} else {
		text += " without correction"
	}
	switch {
	case !slices.ContainsFunc(r.Tables, measuredRegime):
		return text + "; distance of the cores not measured"
	case o.Correct == verdict.None:
		return text + "; all samples, whatever their regime"
	}
	return text + fmt.Sprintf("; cores are near below %v ns of bounce", o.Near)
}

func measuredRegime(t *verdict.Table) bool {
	return slices.ContainsFunc(t.Rows, func(r *verdict.Row) bool {
		return slices.ContainsFunc(r.Comparisons, func(c *verdict.Comparison) bool { return c.Regime != verdict.Unknown })
	})
}
