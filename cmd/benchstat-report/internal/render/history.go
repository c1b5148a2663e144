package render

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"golang.org/x/perf/benchunit"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/history"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/verdict"
)

// barWidth is how many cells the longest bar of a series has.
const barWidth = 30

// bar draws a share of the longest bar in eighths of a cell.
func bar(share float64) string {
	if math.IsNaN(share) || share <= 0 {
		return ""
	}
	eighths := int(math.Round(min(share, 1) * barWidth * 8))
	text := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		text += string([]rune(" ▏▎▍▌▋▊▉")[rest])
	}
	return text
}

// longest returns the largest median of a series.
func longest(s *history.Series) float64 {
	most := 0.0
	for _, p := range s.Points {
		most = max(most, finite(p.Summary.Center))
	}
	return most
}

func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// seriesGrid sets the points of a series.
func seriesGrid(h *history.History, s *history.Series) *grid {
	_, tidy := benchunit.Tidy(1, s.Unit)
	g := &grid{
		head:  []string{"commit", "median", fmt.Sprintf("± %s", percent(h.Options.Confidence)), "n", "cores", "change", ""},
		right: []bool{false, true, true, true, false, true, false},
	}
	before := math.NaN()
	var last verdict.Regime
	for _, p := range s.Points {
		center := p.Summary.Center
		step := none
		if r := center / before; !math.IsNaN(r) && !math.IsInf(r, 0) && last == p.Regime {
			step = fmt.Sprintf("%+.1f%%", (r-1)*100)
		}
		g.add(h.Commits[p.Commit].Label, quantity(center, s.Unit, tidy), plusMinus(p.Summary), strconv.Itoa(p.Summary.N), regime(p.Regime), step,
			bar(center/longest(s)))
		before, last = center, p.Regime
	}
	return g
}

func seriesTitle(s *history.Series) string {
	text := s.Name + ", " + s.Unit + ", " + direction(s.Better)
	if len(s.Config) > 0 {
		text += " (" + configLine(s.Config, ": ", ", ") + ")"
	}
	return text
}

func orderLine(h *history.History) string {
	if len(h.Commits) == 1 {
		return "1 commit"
	}
	return fmt.Sprintf("%d commits, ordered by %s", len(h.Commits), h.Order)
}

// HistoryText writes a history for a terminal.
func HistoryText(w io.Writer, h *history.History) error {
	var b strings.Builder
	head(&b, h.Machine, h.Warnings)
	fmt.Fprintf(&b, "%s\n", orderLine(h))
	for _, s := range h.Series {
		fmt.Fprintf(&b, "\n%s\n", seriesTitle(s))
		if err := seriesGrid(h, s).text(&b); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// HistoryMarkdown writes a history for a document.
func HistoryMarkdown(w io.Writer, h *history.History) error {
	var b strings.Builder
	markdownHead(&b, h.Machine, h.Warnings)
	fmt.Fprintf(&b, "%s\n", escape(orderLine(h)))
	for _, s := range h.Series {
		fmt.Fprintf(&b, "\n### %s\n\n", escape(seriesTitle(s)))
		if err := seriesGrid(h, s).markdown(&b); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// HistoryCSV writes one record for each point.
func HistoryCSV(w io.Writer, h *history.History) error {
	var list [][]string
	for _, s := range h.Series {
		for _, p := range s.Points {
			c := h.Commits[p.Commit]
			list = append(list, []string{
				configLine(s.Config, "=", "; "), s.Unit, better(s.Better), s.Topic, s.Name, strconv.Itoa(p.Commit), c.ID, strconv.FormatBool(c.Dirty), c.Label,
				exact(p.Summary.Center), exact(p.Summary.Lo), exact(p.Summary.Hi), strconv.Itoa(p.Summary.N),
				strconv.Itoa(p.Summary.NearN), strconv.Itoa(p.Summary.FarN), string(p.Regime), string(h.Order),
			})
		}
	}
	return records(w, []string{"config", "unit", "better", "topic", "row", "position", "commit", "dirty", "label", "center", "lo", "hi", "n", "near", "far", "regime", "order"}, list)
}

type jsonCommit struct {
	ID    string `json:"id"`
	Label string `json:"label"`
	Dirty bool   `json:"dirty"`
}

type jsonPoint struct {
	Commit  int            `json:"commit"`
	Summary jsonSummary    `json:"summary"`
	Regime  verdict.Regime `json:"regime"`
}

type jsonSeries struct {
	Name   string            `json:"name"`
	Topic  string            `json:"topic"`
	Unit   string            `json:"unit"`
	Better string            `json:"better"`
	Config map[string]string `json:"config"`
	Points []jsonPoint       `json:"points"`
}

// HistoryJSON writes a history for a program.
func HistoryJSON(w io.Writer, h *history.History) error {
	commits, series := []jsonCommit{}, []jsonSeries{}
	for _, c := range h.Commits {
		commits = append(commits, jsonCommit(c))
	}
	for _, s := range h.Series {
		js := jsonSeries{s.Name, s.Topic, s.Unit, better(s.Better), configOf(s.Config), []jsonPoint{}}
		for _, p := range s.Points {
			js.Points = append(js.Points, jsonPoint{p.Commit, summaryOf(p.Summary), p.Regime})
		}
		series = append(series, js)
	}
	return emit(w, struct {
		Version  int               `json:"version"`
		Kind     string            `json:"kind"`
		Options  jsonOptions       `json:"options"`
		Order    history.Order     `json:"order"`
		Machine  map[string]string `json:"machine"`
		Warnings []string          `json:"warnings"`
		Commits  []jsonCommit      `json:"commits"`
		Series   []jsonSeries      `json:"series"`
	}{version, "history", optionsOf(h.Options), h.Order, configOf(h.Machine), append([]string{}, h.Warnings...), commits, series})
}
