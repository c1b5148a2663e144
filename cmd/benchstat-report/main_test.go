package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// inside runs the program in this process.
func inside(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errOut bytes.Buffer
	code = run(t.Context(), env{strings.NewReader(stdin), &out, &errOut}, args)
	return out.String(), errOut.String(), code
}

// golden compares text with a file.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: the output differs; go test -update writes it.\ngot:\n%s", path, got)
	}
}

func TestGoldenFilesOfEveryForm(t *testing.T) {
	t.Chdir("testdata")
	documents := map[string][]string{
		"compare": {"compare", "old.txt", "new.txt"},
		"impls":   {"compare", "-col", "/impl", "-baseline", "channel,mutex", "impls.txt"},
		"noise":   {"gate", "-noise", "aa.txt", "-filter", ".unit:ns/op .name:/^[ED]/", "old.txt", "new.txt"},
		"legs":    {"compare", "aa.txt"},
		"none":    {"compare", "-correct", "none", "-filter", ".unit:(msgs/s OR allocs/op)", "before=old.txt", "after=new.txt"},
		"three":   {"compare", "commit1.txt", "commit2.txt", "commit3.txt"},
		"summary": {"summary", "old.txt"},
		"columns": {"summary", "-col", "/impl", "impls.txt"},
		"history": {"history", "commit1.txt", "commit2.txt", "commit3.txt"},
	}
	for name, args := range documents {
		for _, form := range []string{"text", "markdown", "csv", "json"} {
			t.Run(name+" "+form, func(t *testing.T) {
				args := append([]string{args[0], "-format", form}, args[1:]...)
				out, errOut, code := inside(t, "", args...)
				if wantCode := map[bool]int{true: exitRegression}[args[0] == "gate"]; code != wantCode {
					t.Fatalf("%q exits with %d, want %d: %s", args, code, wantCode, errOut)
				}
				golden(t, filepath.Join("golden", name+"."+form), out)
			})
		}
	}
}

func TestHelpOfEveryVerbTeaches(t *testing.T) {
	out, _, code := inside(t, "", "-help")
	if code != 0 {
		t.Errorf("-help exits with %d", code)
	}
	for _, v := range verbs() {
		if !strings.Contains(out, "\n  "+v.name+" ") {
			t.Errorf("-help does not list %s", v.name)
		}
		own, errOut, code := inside(t, "", v.name, "-help")
		if code != 0 || errOut != "" {
			t.Errorf("%s -help exits with %d and says %q", v.name, code, errOut)
		}
		for _, want := range []string{"Usage: benchstat-report " + v.name, "\n  benchstat-report " + v.name, "\nFlags:\n"} {
			if !strings.Contains(own, want) {
				t.Errorf("%s -help lacks %q:\n%s", v.name, want, own)
			}
		}
		again, _, _ := inside(t, "", "help", v.name)
		if again != own {
			t.Errorf("help %s is not %s -help", v.name, v.name)
		}
	}
}

func TestWrongUseNamesWhatIsLegal(t *testing.T) {
	t.Chdir("testdata")
	legs := filepath.Join(t.TempDir(), "legs.txt")
	text := "leg: base\ncommit: aaaaaaa\n" + series("Encode", "ns/op", 100, 10) + "leg: new\ncommit: bbbbbbb\n" + series("Encode", "ns/op", 150, 10)
	if err := os.WriteFile(legs, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want []string // in the message
	}{
		{nil, []string{"no verb", "compare", "history"}},
		{[]string{"compair"}, []string{`"compair"`, "summary", "compare", "gate"}},
		{[]string{"compare", "-colour", "x"}, []string{"colour", "-col", "-baseline", "-help"}},
		{[]string{"compare"}, []string{"no files"}},
		{[]string{"summary"}, []string{"no files"}},
		{[]string{"compare", "old.txt"}, []string{".file", "old.txt", "-col"}},
		{[]string{"compare", "-floor", "fast", "old.txt", "new.txt"}, []string{`"fast"`, "3%", "0.03"}},
		{[]string{"compare", "-floor", "-1%", "old.txt", "new.txt"}, []string{`"-1%"`}},
		{[]string{"compare", "-correct", "bonferroni", "old.txt", "new.txt"}, []string{"bonferroni", "holm", "none"}},
		{[]string{"compare", "-alpha", "1.5", "old.txt", "new.txt"}, []string{"-alpha 1.5"}},
		{[]string{"compare", "-alpha", "NaN", "old.txt", "new.txt"}, []string{"-alpha NaN"}},
		{[]string{"compare", "-confidence", "95", "old.txt", "new.txt"}, []string{"-confidence 95", "0.95"}},
		{[]string{"compare", "-near", "-3", "old.txt", "new.txt"}, []string{"-near -3"}},
		{[]string{"compare", "-format", "pdf", "old.txt", "new.txt"}, []string{`"pdf"`, "text", "json"}},
		{[]string{"compare", "-filter", ".name:(", "old.txt", "new.txt"}, []string{"-filter", ".name:("}},
		{[]string{"compare", "-col", "/impl@nonsense", "impls.txt"}, []string{"-col", "nonsense"}},
		{[]string{"compare", "-col", "/impl", "-baseline", "chan", "impls.txt"}, []string{`"chan"`, "channel", "ring", "lane"}},
		{[]string{"compare", "-noise", "old.txt", "old.txt", "new.txt"}, []string{"-noise old.txt", "run -aa"}},
		{[]string{"compare", "-noise", legs, "old.txt", "new.txt"}, []string{"aaaaaaa and bbbbbbb", "run -aa"}},
		{[]string{"compare", "-o", "no/such/dir/x", "old.txt", "new.txt"}, []string{"-o", "no/such/dir/x"}},
	} {
		_, errOut, code := inside(t, "", c.args...)
		if code != exitUsage {
			t.Errorf("%q exits with %d, want %d", c.args, code, exitUsage)
		}
		for _, want := range c.want {
			if !strings.Contains(errOut, want) {
				t.Errorf("%q says %q, want it to name %q", c.args, errOut, want)
			}
		}
	}
}

// built builds the program.
func built(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "benchstat-report")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return bin
}

func TestExitCodesOfTheBinary(t *testing.T) {
	bin := built(t)
	dir := t.TempDir()
	file := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	old, slow := file("a.txt", series("X", "ns/op", 100, 10)), file("b.txt", series("X", "ns/op", 120, 10))
	few := file("few.txt", series("X", "ns/op", 100, 3))
	other := file("other.txt", series("Y", "ns/op", 100, 10))
	broken := file("broken.txt", series("X", "ns/op", 100, 10)+"BenchmarkX 1 no number\n")
	failed := file("failed.txt", series("X", "ns/op", 100, 10)+"--- FAIL: BenchmarkZ\n    z_test.go:1: no\nFAIL\n")
	text, err := os.ReadFile(old)
	if err != nil {
		t.Fatal(err)
	}
	wide := []byte{0xff, 0xfe}
	for _, c := range text {
		wide = append(wide, c, 0)
	}
	onlyFailed := file("only.txt", "FAIL\ta/b [build failed]\n")
	onlyBroken := file("lines.txt", "BenchmarkX 1 no number\n")
	utf16 := file("utf16.txt", string(wide))
	for _, c := range []struct {
		name   string
		args   []string
		code   int
		report bool // there is one on stdout
		says   string
	}{
		{"nothing slower", []string{"gate", old, old}, 0, true, ""},
		{"slower", []string{"gate", old, slow}, exitRegression, true, "1 row is slower"},
		{"faster", []string{"gate", slow, old}, 0, true, ""},
		{"slower, compare", []string{"compare", old, slow}, 0, true, ""},
		{"UTF-16", []string{"gate", old, utf16}, exitUsage, false, "UTF-16"},
		{"missing", []string{"gate", old, dir + "/none.txt"}, exitUsage, false, "no such file"},
		{"unparsable line", []string{"gate", old, broken}, exitUsage, true, "broken.txt:11"},
		{"unknown flag", []string{"gate", "-x", old, old}, exitUsage, false, "-x"},
		{"nothing in common", []string{"gate", old, other}, exitNothing, true, "nothing is comparable"},
		{"filter leaves nothing", []string{"gate", "-filter", ".name:Z", old, slow}, exitNothing, false, "-filter"},
		{"undecided", []string{"gate", old, few}, 0, true, ""},
		{"undecided, strict", []string{"gate", "-strict", old, few}, exitNothing, true, "1 row is undecided"},
		{"failed", []string{"gate", old, failed}, exitFailed, true, "failed.txt:11: --- FAIL: BenchmarkZ"},
		{"nothing but a failure", []string{"gate", old, onlyFailed}, exitFailed, true, "only.txt:1: FAIL"},
		{"nothing but a failure at the base", []string{"gate", onlyFailed, old}, exitFailed, true, "only.txt:1: FAIL"},
		{"nothing but unparsable lines", []string{"gate", old, onlyBroken}, exitUsage, true, "lines.txt:1"},
		{"filter leaves one side", []string{"gate", "-filter", ".name:X", old, other}, exitNothing, true, "nothing is comparable"},
		{"failed, summary", []string{"summary", failed}, exitFailed, true, "failed.txt:11"},
		{"failed, history", []string{"history", failed, old}, exitFailed, true, "failed.txt:11"},
		{"help", []string{"gate", "-help"}, 0, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, errOut bytes.Buffer
			cmd := exec.Command(bin, c.args...)
			cmd.Stdout, cmd.Stderr = &out, &errOut
			err := cmd.Run()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			if code := cmd.ProcessState.ExitCode(); code != c.code {
				t.Errorf("exit code %d, want %d\n%s%s", code, c.code, &out, &errOut)
			}
			if (out.Len() > 0) != c.report {
				t.Errorf("the report is %q, want one: %v", &out, c.report)
			}
			if !strings.Contains(errOut.String(), c.says) || c.says == "" && errOut.Len() > 0 {
				t.Errorf("it says %q, want %q", &errOut, c.says)
			}
		})
	}
}

func TestInterruptedExitsWith130(t *testing.T) {
	t.Chdir("testdata")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, verb := range []string{"compare", "history"} {
		var out, errOut bytes.Buffer
		if code := run(ctx, env{strings.NewReader(""), &out, &errOut}, []string{verb, "old.txt", "new.txt"}); code != exitInterrupted || out.Len() > 0 {
			t.Errorf("%s exits with %d and writes %q, want %d and nothing", verb, code, &out, exitInterrupted)
		}
	}
}

func TestWaitingForStandardInputCanBeInterrupted(t *testing.T) {
	in, feed := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	code := make(chan int)
	go func() {
		code <- run(ctx, env{interruptible{ctx, in}, io.Discard, io.Discard}, []string{"summary", "-"})
	}()
	if _, err := io.WriteString(feed, "goos: linux\n"); err != nil {
		t.Fatal(err)
	}
	cancel()
	if got := <-code; got != exitInterrupted {
		t.Errorf("exit code %d, want %d", got, exitInterrupted)
	}
	feed.Close() // ends the Read that was left behind
	out, _, got := inside(t, series("X", "ns/op", 100, 10), "summary", "-")
	if got != 0 || !strings.Contains(out, "X") {
		t.Errorf("without an interrupt: exit code %d, %q", got, out)
	}
}

func TestStandardInputLabelsAndOutputFile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{"a.txt": series("X", "ns/op", 100, 10), "k=v.txt": series("X", "ns/op", 100, 10)} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out, errOut, code := inside(t, series("X", "ns/op", 130, 10), "compare", "-o", "report.csv", "-format", "csv", "before=a.txt", "-")
	if code != 0 || out != "" || errOut != "" {
		t.Fatalf("exit code %d, out %q, err %q", code, out, errOut)
	}
	text, err := os.ReadFile("report.csv")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), ",-,before,") || !strings.Contains(string(text), ",slower,") {
		t.Errorf("the report is %s", text)
	}
	// Flags may stand after the files, and -- ends them.
	if out, errOut, code = inside(t, "", "summary", "a.txt", "-format", "csv", "--", "k=v.txt"); code != 0 || !strings.Contains(out, ",k=v.txt,") {
		t.Errorf("exit code %d, %q, %q", code, out, errOut)
	}
}
