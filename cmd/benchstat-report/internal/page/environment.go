package page

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/pair"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/parse"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/verdict"
)

// Side is one column of a comparison with the configuration its samples were
// taken under. A key has all its values, in order of appearance.
type Side struct {
	Name   string
	Config []Line
}

// Line is one key of a configuration.
type Line struct {
	Key    string
	Values []string
}

// moments are keys that change from sample to sample, or that belong to the
// benchmark, and tell of no side.
var moments = []string{"seq", "round", "bounce-ns", "cores", "leg", "arm", "pkg"}

// Sides collects the configuration of each column from the results that its
// samples are of.
func Sides(r *verdict.Report, results []*parse.Result) []Side {
	type place struct {
		file string
		line int
	}
	at := map[place]*parse.Result{}
	for _, res := range results {
		at[place{res.File, res.Line}] = res
		at[place{res.Path, res.Line}] = res
	}
	var sides []Side
	for _, t := range r.Tables {
		for _, row := range t.Rows {
			for i, cell := range row.Cells {
				if cell == nil {
					continue
				}
				k := slices.IndexFunc(sides, func(s Side) bool { return s.Name == t.Columns[i] })
				if k < 0 {
					k = len(sides)
					sides = append(sides, Side{Name: t.Columns[i]})
				}
				for _, s := range cell.Samples {
					if res := at[place{s.File, s.Line}]; res != nil {
						sides[k].add(res)
					}
				}
			}
		}
	}
	return sides
}

func (s *Side) add(res *parse.Result) {
	for _, c := range res.Config {
		if c.File && !slices.Contains(moments, c.Key) {
			s.set(c.Key, string(c.Value))
		}
	}
}

func (s *Side) set(key, value string) {
	i := slices.IndexFunc(s.Config, func(l Line) bool { return l.Key == key })
	if i < 0 {
		i = len(s.Config)
		s.Config = append(s.Config, Line{Key: key})
	}
	if !slices.Contains(s.Config[i].Values, value) {
		s.Config[i].Values = append(s.Config[i].Values, value)
	}
}

func (s *Side) values(key string) string {
	for _, l := range s.Config {
		if l.Key == key {
			return several(key, l.Values)
		}
	}
	return ""
}

// several writes the values of a key: those of loads as a span, many as the
// first few.
func several(key string, values []string) string {
	const most = 4
	if strings.HasPrefix(key, "load") && len(values) > 1 {
		lo, hi, ok := 0.0, 0.0, true
		for i, text := range values {
			v, err := strconv.ParseFloat(text, 64)
			if ok = ok && err == nil; i == 0 || v < lo {
				lo = v
			}
			hi = max(hi, v)
		}
		if ok {
			return strconv.FormatFloat(lo, 'g', -1, 64) + " to " + strconv.FormatFloat(hi, 'g', -1, 64)
		}
	}
	if len(values) > most {
		return strings.Join(values[:most], ", ") + ", … (" + plural(len(values), "value", "values") + ")"
	}
	return strings.Join(values, ", ")
}

// environment is the table of the machine.
type environment struct {
	Heads []string
	Rows  []environmentRow
	// Differ is how many lines differ between the sides.
	Differ int
}

type environmentRow struct {
	Key    string
	Values []string
	Differ bool
}

// maxSides is how many columns the table of the machine has at most.
const maxSides = 4

// newEnvironment sets the sides side by side. Sides that agree in everything
// are one column.
func newEnvironment(sides []Side, machine []pair.KeyValue) *environment {
	if len(sides) == 0 {
		all := Side{Name: "everywhere"}
		for _, kv := range machine {
			all.set(kv.Key, kv.Value)
		}
		sides = []Side{all}
	}
	e := &environment{}
	var keys []string
	for _, s := range sides {
		for _, l := range s.Config {
			if !slices.Contains(keys, l.Key) {
				keys = append(keys, l.Key)
			}
		}
	}
	slices.SortStableFunc(keys, func(a, b string) int { return rank(a) - rank(b) })
	for _, key := range keys {
		row := environmentRow{Key: key}
		for i := range sides {
			row.Values = append(row.Values, sides[i].values(key))
			row.Differ = row.Differ || row.Values[i] != row.Values[0]
		}
		if row.Differ {
			e.Differ++
		}
		e.Rows = append(e.Rows, row)
	}
	for _, s := range sides {
		e.Heads = append(e.Heads, s.Name)
	}
	if e.Differ == 0 && len(sides) > 1 {
		e.Heads = []string{"all sides"}
	}
	if len(e.Heads) > maxSides {
		e.Heads = append(e.Heads[:maxSides:maxSides], "… "+plural(len(sides)-maxSides, "more side", "more sides"))
	}
	for i := range e.Rows {
		if v := e.Rows[i].Values; len(v) > len(e.Heads) {
			e.Rows[i].Values = v[:len(e.Heads)]
		}
		if len(sides) > maxSides && len(e.Heads) > maxSides {
			e.Rows[i].Values[maxSides] = ""
		}
	}
	return e
}

// rank puts the keys that readers look for first.
func rank(key string) int {
	known := []string{"cpu", "gomaxprocs", "cpu-quota", "go", "goos", "goarch", "goamd64", "kernel", "clocksource", "commit", "dirty"}
	if i := slices.Index(known, key); i >= 0 {
		return i
	}
	return len(known)
}
