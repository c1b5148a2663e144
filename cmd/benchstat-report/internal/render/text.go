package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/pair"
	"github.com/tidemark-go/tidemark/cmd/benchstat-report/internal/verdict"
)

// head writes what stands above the tables.
func head(b *strings.Builder, machine []pair.KeyValue, warnings []string) {
	for _, kv := range machine {
		fmt.Fprintf(b, "%s: %s\n", kv.Key, kv.Value)
	}
	for _, w := range warnings {
		fmt.Fprintf(b, "note: %s\n", w)
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
}

// Text writes a comparison for a terminal.
func Text(w io.Writer, r *verdict.Report) error {
	var b strings.Builder
	head(&b, r.Machine, r.Warnings)
	for _, t := range r.Tables {
		fmt.Fprintf(&b, "%s\n", title(t.Table))
		if g := reportGrid(t, r.Options, false); len(g.rows) > 0 {
			if err := g.text(&b); err != nil {
				return err
			}
		}
		list, names := reasons(t)
		for _, reason := range list {
			b.WriteString(wrap(indent+reason+":", names[reason]))
		}
		b.WriteString("\n")
	}
	g, without := topicGrid(r)
	if len(g.rows) > 0 {
		b.WriteString("topics, each in its headline unit\n")
		if err := g.text(&b); err != nil {
			return err
		}
	}
	if len(without) > 0 {
		b.WriteString(wrap(indent+"nothing comparable:", without))
	}
	b.WriteString("\n")
	fmt.Fprintf(&b, "%s\n(%s)\n", total(r), rules(r))
	_, err := io.WriteString(w, b.String())
	return err
}

// Markdown writes a comparison for a pull request.
func Markdown(w io.Writer, r *verdict.Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** (%s)\n\n", total(r), escape(rules(r)))
	markdownHead(&b, r.Machine, r.Warnings)
	g, without := topicGrid(r)
	if len(g.rows) > 0 {
		b.WriteString("### Topics, each in its headline unit\n\n")
		if err := g.markdown(&b); err != nil {
			return err
		}
		b.WriteString("\n")
	}
	if len(without) > 0 {
		fmt.Fprintf(&b, "Nothing comparable: %s\n\n", escape(strings.Join(shorten(without), ", ")))
	}
	for _, t := range r.Tables {
		fmt.Fprintf(&b, "### %s\n\n", escape(title(t.Table)))
		if g := reportGrid(t, r.Options, true); len(g.rows) > 0 {
			if err := g.markdown(&b); err != nil {
				return err
			}
			b.WriteString("\n")
		}
		list, names := reasons(t)
		for _, reason := range list {
			fmt.Fprintf(&b, "- %s: %s\n", escape(reason), escape(strings.Join(shorten(names[reason]), ", ")))
		}
		if len(list) > 0 {
			b.WriteString("\n")
		}
	}
	_, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n")
	return err
}

func markdownHead(b *strings.Builder, machine []pair.KeyValue, warnings []string) {
	for _, kv := range machine {
		fmt.Fprintf(b, "- %s: %s\n", escape(kv.Key), escape(kv.Value))
	}
	for _, w := range warnings {
		fmt.Fprintf(b, "- note: %s\n", escape(w))
	}
	if len(machine)+len(warnings) > 0 {
		b.WriteString("\n")
	}
}
