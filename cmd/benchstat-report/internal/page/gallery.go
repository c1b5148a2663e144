package page

import (
	"fmt"
	"html/template"
	"io"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/chart"
)

// Bounds of a page: beyond them a reader finds nothing, and a browser is slow.
const (
	maxCharts      = 90 // of a page
	maxTopicCharts = 8  // of a section, beside the forest plot
	maxForest      = 60 // rows of a forest plot
	maxListed      = 30 // rows of a list above the sections
	maxPoints      = 3000
)

// gallery collects the charts of a page and keeps their number bounded.
type gallery struct {
	charts  []Named
	names   map[string]bool
	leftOut int
	err     error
}

// add takes a chart and returns it as part of the page, or nothing if there
// are too many already.
func (g *gallery) add(n Named) template.HTML {
	if len(g.charts) >= maxCharts {
		g.leftOut++
		return ""
	}
	if g.names == nil {
		g.names = map[string]bool{}
	}
	for name, i := n.Name, 2; g.names[n.Name]; i++ {
		n.Name = fmt.Sprintf("%s-%d", name, i)
	}
	g.names[n.Name] = true
	g.charts = append(g.charts, n)
	html, err := n.inline()
	if err != nil && g.err == nil {
		g.err = err
	}
	return html
}

// addAll takes charts up to a number and returns how many it left out.
func (g *gallery) addAll(list []Named, most int) (charts []template.HTML, left int) {
	for i, n := range list {
		if i >= most {
			return charts, len(list) - i
		}
		if html := g.add(n); html != "" {
			charts = append(charts, html)
		}
	}
	return charts, 0
}

// WriteFile draws the chart as a document of its own.
func (n Named) WriteFile(w io.Writer) error { return chart.WriteFile(w, n.named()) }

// inline draws the chart under its name.
func (n Named) inline() (template.HTML, error) {
	return chart.Inline(n.named())
}

// named is the chart with its name as its id.
func (n Named) named() chart.Chart {
	switch c := n.Chart.(type) {
	case chart.Plot:
		c.ID = n.Name
		return c
	case chart.Forest:
		c.ID = n.Name
		return c
	}
	return n.Chart
}
