package render

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// grid is a table before it is text or Markdown.
type grid struct {
	head []string
	// right are the columns that are set to the right.
	right []bool
	rows  [][]string
	// headings are lines between rows, by the index of the row they precede.
	// Markdown has none.
	headings map[int]string
}

func (g *grid) add(cells ...string) { g.rows = append(g.rows, cells) }

// drop removes a column.
func (g *grid) drop(i int) {
	cut := func(list []string) []string { return append(list[:i:i], list[i+1:]...) }
	g.head = cut(g.head)
	g.right = append(g.right[:i:i], g.right[i+1:]...)
	for k := range g.rows {
		g.rows[k] = cut(g.rows[k])
	}
}

const indent = "  "

// text sets the grid in columns.
func (g *grid) text(w io.Writer) error {
	width := make([]int, len(g.head))
	for _, row := range append([][]string{g.head}, g.rows...) {
		for i, c := range row {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	line := func(row []string) string {
		var b strings.Builder
		for i, c := range row {
			gap := strings.Repeat(" ", width[i]-utf8.RuneCountInString(c))
			b.WriteString(indent)
			if g.right[i] {
				b.WriteString(gap + c)
			} else {
				b.WriteString(c + gap)
			}
		}
		return strings.TrimRight(b.String(), " ") + "\n"
	}
	var out strings.Builder
	out.WriteString(line(g.head))
	for i, row := range g.rows {
		if h := g.headings[i]; h != "" {
			out.WriteString(h + "\n")
		}
		out.WriteString(line(row))
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// markdown sets the grid as a table.
func (g *grid) markdown(w io.Writer) error {
	var b strings.Builder
	line := func(row []string) {
		b.WriteString("|")
		for _, c := range row {
			b.WriteString(" " + escape(c) + " |")
		}
		b.WriteString("\n")
	}
	line(g.head)
	b.WriteString("|")
	for _, right := range g.right {
		if right {
			b.WriteString("---:|")
		} else {
			b.WriteString("---|")
		}
	}
	b.WriteString("\n")
	for _, row := range g.rows {
		line(row)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

var markdownEscapes = strings.NewReplacer("|", `\|`, "\n", " ", "\r", " ", "*", `\*`, "`", "\\`", "<", "&lt;", "[", `\[`, "_", `\_`)

// escape makes text that Markdown shows as it is.
func escape(s string) string { return markdownEscapes.Replace(s) }

const (
	// textWidth is the width of a terminal that a line of words is broken for.
	textWidth = 118
	// mostNames is how many names a reason lists before it counts the rest.
	mostNames = 24
)

// wrap breaks a list of items into lines.
func wrap(prefix string, items []string) string {
	var b strings.Builder
	b.WriteString(prefix)
	used := utf8.RuneCountInString(prefix)
	for i, item := range shorten(items) {
		if i < min(len(items)-1, mostNames) {
			item += ","
		}
		n := utf8.RuneCountInString(item) + 1
		if used+n > textWidth {
			b.WriteString("\n" + indent + indent)
			used = len(indent) * 2
		}
		fmt.Fprintf(&b, " %s", item)
		used += n
	}
	return b.String() + "\n"
}

// shorten counts what is too much to list.
func shorten(items []string) []string {
	if len(items) <= mostNames+1 {
		return items
	}
	return append(slices.Clone(items[:mostNames]), fmt.Sprintf("and %d more, which the forms csv and json list", len(items)-mostNames))
}
