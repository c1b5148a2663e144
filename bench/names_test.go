package bench_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// topics lists what must be measured: the start of a topic, and what the rows
// must have for some implementation. A row has all words of one of the lines.
var topics = map[string][]string{
	"QueuePushPop": {"waiting=0", "waiting=1024"},
	"QueueBurst":   {"burst=256 batch=1", "burst=256 batch=16"},
	"QueueBatches": {"producers=1 batch=16", "producers=8 batch=16"},
	"QueueProducers": {
		"producers=1 consumer=poll", "producers=2 consumer=poll", "producers=4 consumer=poll", "producers=8 consumer=poll",
		"producers=16 consumer=poll", "producers=512 consumer=poll", "producers=1 consumer=wait", "producers=512 consumer=wait",
	},
	"QueueCores": {"procs=1"},
	"CheckpointCycle": {
		"tick=256 order=inorder", "tick=256 order=scrambled", "tick=16 order=inorder", "tick=16 order=scrambled",
	},
	"CheckpointPartitions": {"partitions=16", "partitions=256", "partitions=4096"},
	"CheckpointLive": {
		"issuers=1 drain=tick", "issuers=2 drain=tick", "issuers=4 drain=tick", "issuers=8 drain=tick",
		"issuers=1 drain=spin", "issuers=8 drain=spin",
	},
	"CheckpointCores":     {"issuers=4 procs=1"},
	"CheckpointCross":     {"issuers=1", "issuers=2", "issuers=4"},
	"CheckpointFanout":    {"holders=1", "holders=8", "holders=64"},
	"CheckpointStuckHead": {"behind=0", "behind=100000"},
	"CheckpointSparse":    {"assigned=10 touched=10", "assigned=10000 touched=10"},
	"CheckpointRebalance": {"partitions=10000 change=all", "partitions=10000 change=one"},
	"CheckpointMemory":    {"state=new", "state=used", "state=pending"},
	"LedgerAppend": {
		"writers=1 readers=0", "writers=2 readers=0", "writers=4 readers=0",
		"writers=1 readers=2", "writers=2 readers=2", "writers=4 readers=2",
	},
	"LedgerPage":     {"records=1", "records=64"},
	"LedgerLatency":  {"readers=0", "readers=2"},
	"LatencyIssue":   {"pause=0ms", "pause=10ms"},
	"LatencyRelease": {"pause=0ms", "pause=10ms"},
	"LatencyPush":    {"pause=0ms", "pause=10ms"},
}

// compared lists the implementations that each row of a topic has, by the
// start of the topic.
var compared = []struct {
	topic string
	impls []string
}{
	{"Queue", []string{"channel", "lane"}},
	{"Checkpoint", []string{"channel", "tidemark"}},
	{"Ledger", []string{"mutex", "trylock", "ring"}},
	{"LatencyPush", []string{"channel", "mutex", "shared", "lane"}},
	{"LatencyIssue", []string{"channel", "tidemark"}},
	{"LatencyRelease", []string{"channel", "tidemark"}},
}

// listRows returns the names of all rows, without running any.
func listRows(t *testing.T) []string {
	path := filepath.Join(t.TempDir(), "rows")
	cmd := exec.Command(os.Args[0], "-test.run", "^$", "-test.bench", ".", "-test.benchtime", "1x", "-rows", path)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

func TestRowsAreNamedByKeysAndValues(t *testing.T) {
	name := regexp.MustCompile(`^Benchmark[A-Z]\w*/impl=[a-z0-9]+(/[a-z]+=[a-z0-9.]+)+$`)
	list := listRows(t)
	for _, row := range list {
		// No value has a dash: -digits at the end would read as GOMAXPROCS.
		if !name.MatchString(row) {
			t.Errorf("%s: want BenchmarkTopic/impl=…/key=value/…", row)
		}
	}
	slices.Sort(list)
	if n := len(list); n != len(slices.Compact(list)) {
		t.Error("two rows have the same name")
	}
}

func TestEveryTopicIsMeasured(t *testing.T) {
	byTopic := map[string][][]string{}
	for _, row := range listRows(t) {
		parts := strings.Split(strings.TrimPrefix(row, "Benchmark"), "/")
		byTopic[parts[0]] = append(byTopic[parts[0]], parts[1:])
	}
	for topic, dims := range topics {
		var impls []string
		for _, c := range compared {
			if strings.HasPrefix(topic, c.topic) {
				impls = c.impls
			}
		}
		for _, line := range dims {
			for _, impl := range impls {
				want := append(strings.Fields(line), "impl="+impl)
				if !slices.ContainsFunc(byTopic[topic], func(row []string) bool {
					return !slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(row, w) })
				}) {
					t.Errorf("%s has no row with %v", topic, want)
				}
			}
		}
	}
	for topic := range byTopic {
		if topics[topic] == nil {
			t.Errorf("%s is measured and not in this test's list", topic)
		}
	}
}
