package results

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// tool is benchstat-report, built for the tests.
var tool string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "results")
	if err != nil {
		panic(err)
	}
	tool = filepath.Join(dir, "benchstat-report")
	cmd := exec.Command("go", "build", "-o", tool, "./cmd/benchstat-report")
	cmd.Dir = "../../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		panic(fmt.Sprintf("%v\n%s", err, out))
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.RemoveAll(dir)
		os.Exit(code)
	}))
}

// line is a result line of the topic.
func line(name string, value float64, unit string, bounce float64) string {
	return fmt.Sprintf("Benchmark%s-2 1 %v %s %v bounce-ns\n", name, value, unit, bounce)
}

func load(t *testing.T, text string) *Set {
	t.Helper()
	path := filepath.Join(t.TempDir(), "r.txt")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := Load(t.Context(), []string{tool}, path)
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

func TestTargetComparesMediansOfOneRegime(t *testing.T) {
	var b strings.Builder
	for _, v := range []float64{18, 20, 22, 18, 22, 20} {
		b.WriteString(live("tidemark", v, 50) + live("channel", 10*v, 55))
	}
	// Far samples would turn the verdict round.
	for range 4 {
		b.WriteString(live("tidemark", 900, 190) + live("channel", 1000, 190))
	}
	o := check(t, load(t, b.String()), liveTarget)
	if o.Value != 0.1 || o.Regime != "near" || o.N != 6 || o.Verdict != OK || o.Own != 20 || o.Against != 200 {
		t.Errorf("got %+v, want 20/200 from 6 near samples, ok", o)
	}
	if o.Lo > 0.1 || o.Hi < 0.1 || o.Hi-o.Lo < 0.001 {
		t.Errorf("the interval is %v…%v, want one around 0.1", o.Lo, o.Hi)
	}
	edge := strings.Repeat(live("tidemark", 15, 50)+live("tidemark", 25, 50)+live("channel", 100, 50), 6)
	if o := check(t, load(t, edge), liveTarget); o.Verdict != Undecided {
		t.Errorf("got %+v, want an interval on both sides of 0.2 to be undecided", o)
	}
	split := strings.Repeat(live("tidemark", 10, 50)+live("channel", 100, 190), 6)
	if o := check(t, load(t, split), liveTarget); o.Verdict != Undecided || o.Regime != mixed {
		t.Errorf("got %+v, want sides of different regimes to be undecided", o)
	}
	slow := strings.Repeat(live("tidemark", 30, 50)+live("channel", 100, 50), 6)
	if o := check(t, load(t, slow), liveTarget); o.Value != 0.3 || o.Verdict != Missed {
		t.Errorf("got %+v, want 0.3, missed", o)
	}
}

func TestTargetsOfOtherViews(t *testing.T) {
	var b strings.Builder
	for range 6 {
		for behind, ns := range map[string]float64{"0": 100, "100000": 999, "250000": 150} {
			b.WriteString(line("CheckpointStuckHead/impl=tidemark/behind="+behind, ns, "ns/tick", 50) +
				line("CheckpointStuckHead/impl=channel/behind="+behind, 1, "ns/tick", 50))
		}
		b.WriteString(line("CheckpointSparse/impl=tidemark/assigned=10/touched=10", 10, "ns/batch", 50) +
			line("CheckpointSparse/impl=tidemark/assigned=10000/touched=10", 20, "ns/batch", 50) +
			line("LedgerAppend/impl=ring/writers=1/readers=0", 30, "ns/record", 50) +
			line("LedgerAppend/impl=mutex/writers=1/readers=0", 10, "ns/record", 50) +
			line("Pipeline/impl=tidemark", 90, "ns/op", 0) + line("Pipeline/impl=bare", 100, "ns/op", 0) +
			line("CheckpointMemory/impl=tidemark/state=used", 700, "B/partition", 50) +
			line("CheckpointMemory/impl=channel/state=used", 500, "B/partition", 50))
	}
	s := load(t, b.String())
	for name, want := range map[string]float64{
		"drain with 250,000 behind a stuck head, against none":              1.5,
		"10 of 10,000 partitions touched, against 10 of 10":                 2,
		"ledger append, writers: 1, against a mutex":                        3,
		"pipeline: time against a poll loop that marks (0.95 of its speed)": 0.9,
		"bytes per idle assigned partition":                                 700,
	} {
		o := check(t, s, name)
		if math.Abs(o.Value-want) > 1e-9 || o.Verdict != map[bool]Verdict{true: OK, false: Missed}[o.Value <= o.Max] {
			t.Errorf("%s: %+v, want %v", name, o, want)
		}
	}
}

func TestTargetWithoutMeasurementsSaysSo(t *testing.T) {
	s := load(t, live("tidemark", 10, 50))
	if o := check(t, s, liveTarget); o.Verdict != NotMeasured {
		t.Errorf("without the baseline: %+v, want not measured", o)
	}
	outcomes, err := s.CheckAll()
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("not measured: %d of %d targets\n", len(outcomes), len(outcomes)); !strings.HasSuffix(Text(outcomes), want) {
		t.Errorf("the text is\n%s\nwant it to end with %q", Text(outcomes), want)
	}
}

// TestEveryTargetSelectsOneRow holds the targets and the tables against the
// names that the benchmarks have.
func TestEveryTargetSelectsOneRow(t *testing.T) {
	s, err := Load(t.Context(), []string{tool}, "../../results/figures.txt")
	if err != nil {
		t.Fatal(err)
	}
	outcomes, err := s.CheckAll()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, o := range outcomes {
		if seen[o.Name] {
			t.Errorf("two targets are called %q", o.Name)
		}
		if seen[o.Name] = true; o.Verdict == NotMeasured {
			t.Errorf("%q selects nothing in the kept figures", o.Name)
		}
	}
	for name := range headlines {
		if !seen[name] {
			t.Errorf("the short table shows %q, which is no target", name)
		}
	}
	for _, table := range tables {
		for unit := range strings.FieldsSeq(table.units) {
			if len(s.rows(table.view, table.topic, table.dims, unit)) == 0 {
				t.Errorf("the table of %s in %s has no rows in the kept figures", table.topic, unit)
			}
		}
	}
}

func TestLoadRefusesWhatHoldsNoResults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.txt")
	for _, text := range []string{"", "commit: abc\n", "BenchmarkX 1 nonsense ns/op\n"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(t.Context(), []string{tool}, path); err == nil {
			t.Errorf("Load of %q succeeded", text)
		}
	}
	if _, err := Load(t.Context(), []string{tool}, path+".missing"); err == nil {
		t.Error("Load of a missing file succeeded")
	}
	if err := os.WriteFile(path, []byte(live("tidemark", 1, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(t.Context(), []string{"/no/such/tool"}, path); err == nil {
		t.Error("Load without the tool succeeded")
	}
}

func TestSectionsHaveOneColumnPerVaryingDimension(t *testing.T) {
	s := load(t, "# benchstat-report run x\ncpu: A 1\ncommit: abc\n"+
		strings.Repeat(live("tidemark", 10, 50)+live("channel", 100, 50)+
			line("CheckpointLive/impl=tidemark/issuers=8/drain=tick", 20, "ns/batch", 190)+
			line("CheckpointLive/impl=channel/issuers=8/drain=tick", 50, "ns/batch", 190), 6)+
		strings.Repeat(line("QueueProducers/impl=lane/producers=1", 20, "ns/msg", 50), 6))
	parts, err := s.Sections([]string{"against-issuers-CheckpointLive-batches-s", "against-x-CheckpointLiveOther-y"})
	if err != nil {
		t.Fatal(err)
	}
	want := `CheckpointLive, ns/batch (drain=tick)

| issuers | channel | tidemark | ratio | samples | cores |
|---|---|---|---|---|---|
| 1 | 100 ± 0% | 10.0 ± 0% | 0.10 [0.10, 0.10] | 6 | near |
| 8 | 50.0 ± 0% | 20.0 ± 0% | 0.40 [0.40, 0.40] | 6 | far |
`
	if !strings.HasPrefix(parts["live"], want) {
		t.Errorf("section live is\n%s\nwant it to begin with\n%s", parts["live"], want)
	}
	if want := "\n![against issuers CheckpointLive batches s](charts/against-issuers-CheckpointLive-batches-s.svg)\n"; !strings.HasSuffix(parts["live"], want) {
		t.Errorf("section live is\n%s\nwant it to end with its chart", parts["live"])
	}
	if want := "- CPU: A 1\n- commit: abc\n- command: `benchstat-report run x`\n"; parts["machine"] != want {
		t.Errorf("section machine is %q, want %q", parts["machine"], want)
	}
	if want := "\nQueueBurst, ns/msg: not measured.\n"; !strings.Contains(parts["queues"], want) {
		t.Errorf("section queues is %q, want it to say %q", parts["queues"], want)
	}
	if want := "| – | – | – | – | – | 20.0 ± 0% | – | 6 | unknown |\n"; !strings.Contains(parts["queues"], want) {
		t.Errorf("section queues is %q, want a row of the one implementation that was measured, %q", parts["queues"], want)
	}
}

func TestSeveralUnitsAreOneTable(t *testing.T) {
	row := func(impl string, p50, p99 float64) string {
		return fmt.Sprintf("BenchmarkLatencyIssue/impl=%s/pause=10ms 1 %v p50-ns %v p99-ns 50 bounce-ns\n", impl, p50, p99)
	}
	s := load(t, strings.Repeat(row("channel", 100, 9000)+row("tidemark", 50, 90), 6))
	got := s.markdown(table{"", shipped, "LatencyIssue", "", "p50-ns p99-ns", whole, true})
	want := `LatencyIssue (pause=10ms)

| unit | channel | tidemark | ratio | samples | cores |
|---|---|---|---|---|---|
| p50-ns | 100 ± 0% | 50.0 ± 0% | 0.50 [0.50, 0.50] | 6 | near |
| p99-ns | 9000 ± 0% | 90.0 ± 0% | 0.010 [0.010, 0.010] | 6 | near |
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestPeersAreNotTakenForShippedRows(t *testing.T) {
	mine := strings.Repeat(line("QueueProducers/impl=lane/producers=1/consumer=poll", 20, "ns/msg", 50)+
		line("QueueProducers/impl=channel/producers=1/consumer=poll", 40, "ns/msg", 50), 6)
	s := load(t, "pkg: github.com/tidemark-go/tidemark/bench\n\n"+mine+"\npkg: "+peers+"\n\n"+strings.ReplaceAll(mine, " 20 ", " 10 "))
	if o := check(t, s, "lane, producers: 1"); o.Value != 0.5 {
		t.Errorf("got %+v, want the ratio of the bench package, 0.5", o)
	}
	rows := s.rows(others, "QueueProducers", "producers=1", "ns/msg")
	if len(rows) != 1 || rows[0].Comparisons[0].Ratio != 0.25 {
		t.Errorf("the rows of the peers are %+v, want one with the ratio 0.25", rows)
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
		0: "0", 0.0004: "<0.001", 0.09999: "0.10", 0.0123: "0.012", 0.154: "0.15", 1.236: "1.24", 16.04: "16.0", 103.4: "103", 12345: "12345",
	} {
		if got := Number(v); got != want {
			t.Errorf("Number(%v) = %q, want %q", v, got, want)
		}
	}
}
