package doccheck

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

var hasScheme = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*:`)

// Links reports relative links in documents whose file, or whose heading in a
// Markdown file, does not exist.
func Links(t *Tree) []Finding {
	anchors := map[string]map[string]bool{}
	for _, d := range t.docs {
		anchors[d.path] = d.anchors
	}
	var out []Finding
	for _, d := range t.docs {
		for _, l := range d.links {
			if hasScheme.MatchString(l.text) {
				continue
			}
			file, fragment, _ := strings.Cut(l.text, "#")
			target := d.path
			if file != "" {
				target = path.Join(path.Dir(d.path), file)
			}
			switch {
			case strings.HasPrefix(file, "/"):
				out = append(out, Finding{d.path, l.line, fmt.Sprintf("link %s starts at no known root: make it relative to this file", l.text)})
			case !t.paths[target]:
				out = append(out, Finding{d.path, l.line, fmt.Sprintf("link %s: there is no %s", l.text, target)})
			case fragment != "" && anchors[target] != nil && !anchors[target][fragment]:
				out = append(out, Finding{d.path, l.line, fmt.Sprintf("link %s: %s has no heading #%s", l.text, target, fragment)})
			}
		}
	}
	return sorted(out)
}
