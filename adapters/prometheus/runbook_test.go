package tidemarkprom_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	tidemarkprom "github.com/tidemark-go/tidemark/adapters/prometheus"
	"github.com/tidemark-go/tidemark/core/timing"
)

// TestDocumentsNameMetricsThatExist compares the names in the runbook and in
// the package documentation with those that the collectors describe.
func TestDocumentsNameMetricsThatExist(t *testing.T) {
	l, err := timing.NewLedger(1)
	if err != nil {
		t.Fatal(err)
	}
	descs := make(chan *prometheus.Desc, 100)
	tidemarkprom.NewBarriers(l).Describe(descs)
	collector(t, tidemarkprom.Checkpoints{Snapshot: start(t, 1).Snapshot}).Describe(descs)
	close(descs)
	var exist []string
	for d := range descs {
		exist = append(exist, regexp.MustCompile(`fqName: "(\w+)"`).FindStringSubmatch(d.String())[1])
	}
	name := regexp.MustCompile(`\btidemark_\w+`)
	for _, path := range []string{"../../docs/OPERATIONS.md", "doc.go"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		named := name.FindAllString(string(text), -1)
		for _, n := range named {
			if !slices.Contains(exist, n) {
				t.Errorf("%s names %s, which is none of %s", path, n, strings.Join(exist, ", "))
			}
		}
		for _, n := range exist {
			if path == "doc.go" && !slices.Contains(named, n) {
				t.Errorf("%s does not name %s", path, n)
			}
		}
		if len(named) < 10 {
			t.Errorf("%s names %d metrics", path, len(named))
		}
	}
}
