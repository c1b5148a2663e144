package doccheck

import (
	"fmt"
	"regexp"
	"strings"
)

// marker matches notes to finish something later. It is put together from
// pieces so that this file passes its own check.
var marker = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X|HA` + `CK)\b`)

// Markers reports left-over notes in sources, documents and scripts.
func Markers(t *Tree) []Finding {
	var out []Finding
	for p, text := range t.text {
		for i, line := range strings.Split(text, "\n") {
			if m := marker.FindString(line); m != "" {
				out = append(out, Finding{p, i + 1, fmt.Sprintf("left-over %s", m)})
			}
		}
	}
	return sorted(out)
}
