package results

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// line writes one result line of the topic.
func line(name string, value float64, unit string, bounce float64) string {
	return fmt.Sprintf("Benchmark%s-2 1 %v %s %v bounce-ns\n", name, value, unit, bounce)
}

func load(t *testing.T, text string) *Set {
	t.Helper()
	path := filepath.Join(t.TempDir(), "r.txt")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func live(impl string, value, bounce float64) string {
	return line("CheckpointLive/impl="+impl+"/issuers=1/drain=tick", value, "ns/batch", bounce)
}

func check(t *testing.T, s *Set, name string) Outcome {
	t.Helper()
	for _, target := range Targets() {
		if target.Name == name {
			o, err := s.Check(target)
			if err != nil {
				t.Fatal(err)
			}
			return o
		}
	}
	t.Fatalf("there is no target %q", name)
	return Outcome{}
}

const liveTarget = "life cycle, issuers: 1, a drain every 200 µs"

func TestTargetComparesMediansOfTheNearRegime(t *testing.T) {
	var b strings.Builder
	for _, v := range []float64{10, 20, 30} {
		b.WriteString(live("tidemark", v, 50) + live("channel", 10*v, 55))
	}
	// Far samples would turn the verdict round.
	for range 5 {
		b.WriteString(live("tidemark", 900, 190) + live("channel", 1000, 190))
	}
	o := check(t, load(t, b.String()), liveTarget)
	if o.Value != 0.1 || o.Regime != Near || o.N != 3 || o.Bounce != 55 || o.Verdict != OK {
		t.Errorf("got %+v, want 0.1 from 3 near samples at 55 ns, ok", o)
	}
}

func TestTargetFallsBackToFarThenMixed(t *testing.T) {
	far := strings.Repeat(live("tidemark", 30, 190)+live("channel", 100, 190), 3)
	o := check(t, load(t, far+live("tidemark", 1, 50)+live("channel", 100, 50)), liveTarget)
	if o.Regime != Far || o.Value != 0.3 || o.Verdict != Missed {
		t.Errorf("with too few near samples: %+v, want 0.3 far, missed", o)
	}
	split := strings.Repeat(live("tidemark", 10, 50)+live("channel", 100, 190), 3)
	if o := check(t, load(t, split), liveTarget); o.Regime != Mixed {
		t.Errorf("sides in different regimes: %+v, want mixed", o)
	}
	none := strings.Repeat(live("tidemark", 10, 0)+live("channel", 100, 0), 3)
	if o := check(t, load(t, none), liveTarget); o.Regime != Unknown {
		t.Errorf("no bounce measured: %+v, want unknown", o)
	}
}

func TestTargetWithoutMeasurementsSaysSo(t *testing.T) {
	if o := check(t, load(t, live("tidemark", 10, 50)), liveTarget); o.Verdict != NotMeasured {
		t.Errorf("without the baseline: %+v, want not measured", o)
	}
}

func TestTargetsSelectOneRowEach(t *testing.T) {
	seen := map[string]bool{}
	for _, target := range Targets() {
		if seen[target.Name] {
			t.Errorf("two targets are called %q", target.Name)
		}
		seen[target.Name] = true
	}
}

func TestLoadRefusesWhatHoldsNoResults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.txt")
	for _, text := range []string{"", "commit: abc\n", "BenchmarkX 1 nonsense ns/op\n"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil {
			t.Errorf("Load of %q succeeded", text)
		}
	}
	if _, err := Load(path + ".missing"); err == nil {
		t.Error("Load of a missing file succeeded")
	}
}

func TestSectionsHaveOneColumnPerVaryingDimension(t *testing.T) {
	s := load(t, "# go run x\ncpu: A 1\ncommit: abc\n"+
		strings.Repeat(live("tidemark", 10, 50)+live("channel", 100, 50)+
			line("CheckpointLive/impl=tidemark/issuers=8/drain=tick", 20, "ns/batch", 60)+
			line("CheckpointLive/impl=channel/issuers=8/drain=tick", 50, "ns/batch", 60), 6))
	parts, err := s.Sections()
	if err != nil {
		t.Fatal(err)
	}
	want := `CheckpointLive, ns/batch (drain=tick)

| issuers | channel | tidemark | ratio | samples | bounce | cores |
|---|---|---|---|---|---|---|
| 1 | 100 ± 0% | 10.0 ± 0% | 0.10 | 6 | 50 ns | near |
| 8 | 50.0 ± 0% | 20.0 ± 0% | 0.40 | 6 | 60 ns | near |
`
	if !strings.HasPrefix(parts["live"], want) {
		t.Errorf("section live is\n%s\nwant it to begin with\n%s", parts["live"], want)
	}
	if want := "- CPU: A 1\n- commit: abc\n- command: `go run x`\n"; parts["machine"] != want {
		t.Errorf("section machine is %q, want %q", parts["machine"], want)
	}
	if want := "QueueBurst, ns/msg: not measured.\n"; !strings.HasPrefix(parts["queues"], want) {
		t.Errorf("section queues is %q, want it to begin with %q", parts["queues"], want)
	}
}

func TestFillKeepsTextAndRefusesWrongMarks(t *testing.T) {
	doc := "a\n<!-- figures: x -->\nold\n<!-- end of figures -->\nb\n"
	parts := map[string]string{"x": "new\n"}
	got, err := Fill(doc, parts)
	if want := "a\n<!-- figures: x -->\n\nnew\n\n<!-- end of figures -->\nb\n"; err != nil || got != want {
		t.Errorf("Fill: %q, %v, want %q", got, err, want)
	}
	if again, err := Fill(got, parts); err != nil || again != got {
		t.Errorf("a second Fill changed the document: %q, %v", again, err)
	}
	for name, bad := range map[string]string{
		"no mark":      "a\n",
		"no end":       "<!-- figures: x -->\n",
		"unknown part": "<!-- figures: x -->\n<!-- end of figures -->\n<!-- figures: y -->\n<!-- end of figures -->\n",
		"twice":        "<!-- figures: x -->\n<!-- end of figures -->\n<!-- figures: x -->\n<!-- end of figures -->\n",
	} {
		if _, err := Fill(bad, parts); err == nil {
			t.Errorf("Fill with %s succeeded", name)
		}
	}
}

func TestNumberHasThreeDigits(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.0004: "<0.001", 0.0123: "0.012", 0.154: "0.15", 1.236: "1.24", 16.04: "16.0", 103.4: "103", 12345: "12345",
	} {
		if got := Number(v); got != want {
			t.Errorf("Number(%v) = %q, want %q", v, got, want)
		}
	}
}
