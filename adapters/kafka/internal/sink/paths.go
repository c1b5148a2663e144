package sink

import (
	"path/filepath"
	"strings"
)

// Paths are the files of one output.
type Paths struct {
	// Events takes what was parsed, Dead what was not, both a JSON object a
	// line. Spilled is the directory of lines too large for a record.
	Events, Dead, Spilled string
}

// PathsFor derives the files from one name. A name that ends in .ndjson is
// the file of events, and the others stand beside it; any other name is a
// directory for all of them.
func PathsFor(out string) Paths {
	if base, ok := strings.CutSuffix(out, ".ndjson"); ok && filepath.Base(out) != ".ndjson" {
		return Paths{Events: out, Dead: base + ".dead.ndjson", Spilled: base + ".oversized"}
	}
	return Paths{
		Events:  filepath.Join(out, "events.ndjson"),
		Dead:    filepath.Join(out, "dead.ndjson"),
		Spilled: filepath.Join(out, "oversized"),
	}
}
