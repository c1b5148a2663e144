package parse

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const good = "Unit msgs/s better=higher\ngoos: linux\nBenchmarkA/n=1-2 10 5 ns/op 7 msgs/s\nBenchmarkA/n=1-2 10 6 ns/op 8 msgs/s\nPASS\nok  \tx\t0.1s\n"

// read reads one file with this text.
func read(t *testing.T, text string) (*Set, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f.txt")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Dir(path))
	return Read([]string{"f.txt"}, nil)
}

func TestReadKeepsEveryResultWithItsPlace(t *testing.T) {
	for name, text := range map[string]string{
		"as Go writes it": good, "with a mark": "\ufeff" + good, "with CRLF": strings.ReplaceAll(good, "\n", "\r\n"),
		"without the last end of line": strings.TrimSuffix(good, "PASS\nok  \tx\t0.1s\n"),
	} {
		s, err := read(t, text)
		if err != nil || len(s.Results) != 2 || len(s.Syntax)+len(s.Failures) > 0 {
			t.Fatalf("%s: %+v, %v", name, s, err)
		}
		r := s.Results[1]
		if r.Line != 4 || r.Path != "f.txt" || r.File != "f.txt" || r.GetConfig("goos") != "linux" || r.Values[0].OrigValue != 6 {
			t.Errorf("%s: the second result is %+v", name, r)
		}
		if s.Units.GetBetter("msgs/s") != 1 {
			t.Errorf("%s: the direction of msgs/s is lost", name)
		}
	}
}

func TestInputsThatAreNoBenchmarkFilesAreNamed(t *testing.T) {
	utf16 := func(order int) string {
		var b strings.Builder
		for _, c := range []byte(good) {
			pair := []byte{c, 0}
			if order == 1 {
				slices.Reverse(pair)
			}
			b.Write(pair)
		}
		return b.String()
	}
	for name, c := range map[string]struct{ text, want string }{
		"little endian":     {"\xff\xfe" + utf16(0), "UTF-16"},
		"big endian":        {"\xfe\xff" + utf16(1), "UTF-16"},
		"little, no mark":   {utf16(0), "UTF-16"},
		"big, no mark":      {utf16(1), "UTF-16"},
		"UTF-32":            {"\xff\xfe\x00\x00B\x00\x00\x00", "UTF-32"},
		"gzip":              {"\x1f\x8b\x08rest", "gzip -dc"},
		"zip":               {"PK\x03\x04rest", "zip"},
		"zstd":              {"\x28\xb5\x2f\xfdrest", "zstd"},
		"xz":                {"\xfd7zXZ\x00", "xz"},
		"program":           {"\x7fELF\x02\x01", "-test.bench"},
		"binary":            {"x\x00\x01\x00\x00\x02\x00y\x00\x00", "binary"},
		"empty":             {"", "empty"},
		"JSON":              {`{"Time":"2026","Action":"output","Output":"BenchmarkX"}`, "-json"},
		"no results":        {"PASS\nok x 0.1s\n", "-bench"},
		"nothing to run":    {"?   \tx\t[no test files]\n", "nothing to run"},
		"a line of 100 kB":  {good + "BenchmarkB " + strings.Repeat("x", 100_000) + "\n", "64 KiB"},
		"config, no result": {"goos: linux\n", "no benchmark results"},
	} {
		_, err := read(t, c.text)
		var in *InputError
		if !errors.As(err, &in) || in.Path != "f.txt" || in.Do == "" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an InputError of f.txt that names %q and says what to do", name, err, c.want)
		}
	}
}

func TestPlacesThatCannotBeReadAreNamed(t *testing.T) {
	dir := t.TempDir()
	_, err := Read([]string{dir, filepath.Join(dir, "none")}, nil)
	if err == nil || !strings.Contains(err.Error(), "is a directory") || !strings.Contains(err.Error(), "no such file") || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("both inputs should be named: %v", err)
	}
	if _, err := Read([]string{"-"}, badReader{}); err == nil || !strings.Contains(err.Error(), "broken pipe") {
		t.Errorf("standard input that fails: %v", err)
	}
}

type badReader struct{}

func (badReader) Read([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestCorruptedLinesAreReportedAndNotCounted(t *testing.T) {
	for name, line := range map[string]string{
		"no count":           "BenchmarkB many 5 ns/op\n",
		"no value":           "BenchmarkB 10\n",
		"no unit":            "BenchmarkB 10 5\n",
		"no number":          "BenchmarkB 10 fast ns/op\n",
		"a zero byte":        "BenchmarkB 10 5 ns/o\x00p\n",
		"not text":           "BenchmarkB 10 5 ns/o\xffp\n",
		"indented":           "   BenchmarkB-2 10 5 ns/op\n",
		"output before it":   "started workerBenchmarkB-2 10 5 ns/op\n",
		"output within it":   "BenchmarkB-2 \tstarted worker\n",
		"unit line":          "Unit ns/op better\n",
		"unit contradiction": "Unit msgs/s better=lower\n",
		"cut off":            "BenchmarkA/n=1-2 10 5 ns/o",
	} {
		s, err := read(t, good+line)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(s.Syntax) != 1 || s.Syntax[0].FileName != "f.txt" || s.Syntax[0].Line != 7 || len(s.Results) != 2 {
			t.Errorf("%s: %d results, reported is %v; want 2 and line 7 of f.txt", name, len(s.Results), s.Syntax)
		}
	}
	// A file of nothing else is read, so that its lines can be reported.
	if s, err := read(t, "BenchmarkB many 5 ns/op\n"); err != nil || len(s.Syntax) != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestLinesThatAreNoResultsAreLeftAlone(t *testing.T) {
	for _, line := range []string{
		"BenchmarkB\n", "BenchmarkB-2\n", "# BenchmarkB 10 5 ns/op\n", "    x_test.go:5: BenchmarkB is slow\n", "--- BENCH: BenchmarkB-2\n",
		"BenchmarkB-2 \t--- SKIP: BenchmarkB-2\n", "note: FAIL is a word\n", "testing: 10 5 ns/op\n", "\n", "Unit\tx y=z\n",
	} {
		if s, err := read(t, good+line); err != nil || len(s.Syntax)+len(s.Failures) > 0 || len(s.Results) != 2 {
			t.Errorf("%q: %d results, %v, %v, %v", line, len(s.Results), s.Syntax, s.Failures, err)
		}
	}
}

func TestFailuresAreFound(t *testing.T) {
	for _, line := range []string{
		"FAIL\n", "FAIL\texample.com/x\t0.1s\n", "FAIL\texample.com/x [build failed]\n", "--- FAIL: BenchmarkB\n", "    --- FAIL: BenchmarkB/n=2\n",
		"panic: boom\n", "fatal error: all goroutines are asleep\n", "BenchmarkB-2 \t--- FAIL: BenchmarkB-2\n",
	} {
		s, err := read(t, good+line)
		if err != nil || len(s.Failures) != 1 || s.Failures[0].Line != 7 || len(s.Syntax) > 0 {
			t.Errorf("%q: %v, %v, %v", line, s.Failures, s.Syntax, err)
			continue
		}
		if got, want := s.Failures[0].String(), "f.txt:7: "+strings.TrimSpace(line); got != want {
			t.Errorf("%q is reported as %q, want %q", line, got, want)
		}
	}
	if s, err := read(t, "FAIL\tx [build failed]\n"); err != nil || len(s.Failures) != 1 {
		t.Errorf("a file of failures alone: %+v, %v", s, err)
	}
}

func TestLabelsAndEqualPaths(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a", "k=v"} {
		if err := os.WriteFile(name, []byte(good), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Read([]string{"before=a", "k=v", "a", "a", "-"}, strings.NewReader(good))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"before", "k=v", "a#0", "a#1", "-"}; !slices.Equal(s.Files, want) {
		t.Errorf("files are %q, want %q", s.Files, want)
	}
	if r := s.Results[0]; r.GetConfig(".file") != "before" || r.Path != "a" {
		t.Errorf("the first result is from %q, %q", r.GetConfig(".file"), r.Path)
	}
}

// benchfmt gives a zero the unit ns/op and every other value sec/op.
func TestAUnitIsOneUnit(t *testing.T) {
	s, err := read(t, "BenchmarkA 1 0 ns/op\nBenchmarkA 1 +Inf ns/op\nBenchmarkA 1 5 ns/op\nBenchmarkA 1 NaN ns/op\nBenchmarkA 1 0 B/op\n")
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range s.Results[:4] {
		if v := r.Values[0]; v.Unit != "sec/op" || v.OrigUnit != "ns/op" || math.IsInf(v.OrigValue, 0) != (i == 1) {
			t.Errorf("line %d is %+v", i+1, v)
		}
	}
	if v := s.Results[4].Values[0]; v.Unit != "B/op" || v.OrigUnit != "" {
		t.Errorf("a unit that needs no scale is %+v", v)
	}
}

func TestTheCommandOfTheRunnerIsKept(t *testing.T) {
	s, err := read(t, "# benchstat-report run -bench X\n"+good+"# not this\n")
	if err != nil || !slices.Equal(s.Commands, []string{"benchstat-report run -bench X"}) {
		t.Errorf("commands are %q, %v", s.Commands, err)
	}
}

// FuzzParse reads anything. Whatever it is, it is read, reported or refused, and
// no line that begins as a result does is passed over in silence.
func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte("BenchmarkA 1 0 ns/op 3 bounce-ns\r\nUnit x better=lower\nFAIL\n"))
	f.Add([]byte("\xff\xfeB\x00e\x00"))
	f.Add([]byte("BenchmarkX \t--- FAIL: BenchmarkX\nBenchmarkY 1 5 ns/o"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &Set{}
		err := s.add(input{"f", "f"}, data)
		var in *InputError
		if err != nil {
			if !errors.As(err, &in) || in.Path != "f" || in.What == "" {
				t.Fatalf("not an InputError with a path: %v", err)
			}
			return
		}
		told := map[int]bool{}
		for _, r := range s.Results {
			told[r.Line] = true
			if len(r.Values) == 0 || r.File != "f" {
				t.Fatalf("a result without values or file: %+v", r)
			}
			for _, v := range r.Values {
				if v.OrigUnit == "ns/op" && v.Unit != "sec/op" {
					t.Fatalf("unit %+v", v)
				}
			}
		}
		for _, e := range s.Syntax {
			told[e.Line] = true
		}
		for _, e := range s.Failures {
			told[e.Line] = true
		}
		for i, line := range strings.Split(strings.TrimPrefix(string(data), "\ufeff"), "\n") {
			line = strings.TrimSuffix(line, "\r")
			name, rest, _ := strings.Cut(line, " ")
			if strings.HasPrefix(name, "Benchmark") && strings.TrimSpace(rest) != "" && !told[i+1] && !notice.MatchString(line) {
				t.Fatalf("line %d is neither read nor reported: %q", i+1, line)
			}
		}
	})
}
