package live_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// has says whether a decoded JSON value has something at a path like a.b[].c.
func has(v any, path []string) bool {
	if len(path) == 0 {
		return true
	}
	name, list := strings.CutSuffix(path[0], "[]")
	object, ok := v.(map[string]any)
	if !ok {
		return false
	}
	v, ok = object[name]
	if !ok || !list {
		return ok && has(v, path[1:])
	}
	elements, _ := v.([]any)
	for _, e := range elements {
		if has(e, path[1:]) {
			return true
		}
	}
	return false
}

// TestRunbookNamesFieldsTextsAndLogsThatExist holds docs/OPERATIONS.md to the
// JSON, to the texts of the page and to the log messages of the Kafka source.
func TestRunbookNamesFieldsTextsAndLogsThatExist(t *testing.T) {
	read := func(path string) string {
		text, err := os.ReadFile(filepath.FromSlash(path))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	runbook := read("../../docs/OPERATIONS.md")
	var state any
	if err := json.Unmarshal([]byte(read("testdata/state.json")), &state); err != nil {
		t.Fatal(err)
	}
	fields := regexp.MustCompile("`((?:checkpointer|barriers)\\.[^`]+)`").FindAllStringSubmatch(runbook, -1)
	for _, m := range fields {
		if !has(state, strings.Split(m[1], ".")) {
			t.Errorf("no answer has %s", m[1])
		}
	}
	sources, err := filepath.Glob("../../adapters/kafka/*.go")
	if err != nil || len(sources) == 0 {
		t.Fatalf("no sources of the Kafka source: %v", err)
	}
	var logging strings.Builder
	for _, path := range sources {
		logging.WriteString(read(filepath.ToSlash(path)))
	}
	logs := regexp.MustCompile("`(\"[^`]+\")`").FindAllStringSubmatch(runbook, -1)
	for _, m := range logs {
		if !strings.Contains(logging.String(), "("+m[1]) {
			t.Errorf("nothing logs %s", m[1])
		}
	}
	page := read("page/page.html") + read("page/script.js")
	texts := regexp.MustCompile("[^`(=]\"([A-Z][^\"\n]+)\"").FindAllStringSubmatch(regexp.MustCompile("(?s)```.*?```").ReplaceAllString(runbook, ""), -1)
	for _, m := range texts {
		if !strings.Contains(page, m[1]) {
			t.Errorf("the page never says %q", m[1])
		}
	}
	if len(fields) < 10 || len(logs) < 3 || len(texts) < 5 {
		t.Errorf("found %d fields, %d logs and %d texts", len(fields), len(logs), len(texts))
	}
}
