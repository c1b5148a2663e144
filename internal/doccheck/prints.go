package doccheck

import (
	"fmt"
	"regexp"
	"strings"
)

// printing is a line of a program that prints and says so: everything after
// the comment's slashes, up to a colon that starts an explanation.
var printing = regexp.MustCompile(`^\s*fmt\.Print(?:ln|f)\(.*\)\s*// (.*?)(?:: .*)?$`)

// printed is a line that a program promises to print.
type printed struct {
	line int // of the document
	text string
}

// prints returns what a program says that it prints, or nothing when it is
// none, or when a line of it prints and does not say what.
func (b block) prints() []printed {
	if b.ast.Name.Name != "main" {
		return nil
	}
	var out []printed
	for i, l := range strings.Split(b.text, "\n") {
		if !strings.Contains(l, "fmt.Print") {
			continue
		}
		m := printing.FindStringSubmatch(l)
		if m == nil {
			return nil
		}
		out = append(out, printed{b.line + i, m[1]})
	}
	return out
}

// compare reports where a program's output is not what it says.
func (b block) compare(output string, want []printed) []Finding {
	lines := strings.Split(strings.TrimSuffix(output, "\n"), "\n")
	if len(lines) != len(want) {
		return []Finding{{b.doc, b.line, fmt.Sprintf("program says it prints %d lines, and prints %q", len(want), output)}}
	}
	var out []Finding
	for i, w := range want {
		if lines[i] != w.text {
			out = append(out, Finding{b.doc, w.line, fmt.Sprintf("program says it prints %q, and prints %q", w.text, lines[i])})
		}
	}
	return out
}
