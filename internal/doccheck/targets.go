package doccheck

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	makeRule = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_ -]*):([^=]|$)`)
	quoted   = regexp.MustCompile(`"[^"]*"|'[^']*'`)
	makeCall = regexp.MustCompile(`(?:^|[\s;&|(])make((?:\s+[A-Za-z0-9_=./:"'$-]+)+)`)
)

// MakeTargets reports calls of make in documents, in inline code or in a
// block of commands, whose target the Makefile lacks, and targets that
// "make help" could not list because they have no "## text".
func MakeTargets(t *Tree) []Finding {
	targets := map[string]bool{}
	var out []Finding
	for i, line := range strings.Split(t.text["Makefile"], "\n") {
		m := makeRule.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		for _, name := range strings.Fields(m[1]) {
			targets[name] = true
			if !strings.Contains(line, "## ") {
				out = append(out, Finding{"Makefile", i + 1, fmt.Sprintf("target %s has no ## text for make help", name)})
			}
		}
	}
	for _, d := range t.docs {
		for _, c := range slices.Concat(d.spans, d.shellLines()) {
			for _, m := range makeCall.FindAllStringSubmatch(quoted.ReplaceAllString(c.text, "''"), -1) {
				for _, word := range strings.Fields(m[1]) {
					if word[0] == '-' || strings.Contains(word, "=") || targets[word] {
						continue
					}
					out = append(out, Finding{d.path, c.line, fmt.Sprintf("the Makefile has no target %s", word)})
				}
			}
		}
	}
	return sorted(out)
}
