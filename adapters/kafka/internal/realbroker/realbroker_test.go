package realbroker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// These tests put scripts in the place of java and mvn: what is tested is what
// is said when they are missing or fail. The broker itself runs in "make
// test-broker".

// tools makes a PATH that has these scripts before everything else, or, alone,
// nothing else.
func tools(t *testing.T, alone bool, scripts map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, body := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+body), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	path := dir
	if !alone {
		path += string(os.PathListSeparator) + os.Getenv("PATH")
	}
	t.Setenv("PATH", path)
	t.Setenv("TMPDIR", dir) // where the broker's data goes
}

// leaves fails the test when the broker's data was left behind.
func leaves(t *testing.T) {
	t.Helper()
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "tidemark-broker-*")); len(left) > 0 {
		t.Fatalf("left behind: %v", left)
	}
}

func says(t *testing.T, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, w := range append(want, "realbroker: ") {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("the error %q does not say %q", err, w)
		}
	}
}

const java17 = `echo 'openjdk version "17.0.15" 2025-04-15' >&2`

func TestMissingToolsAreNamedWithWhatToInstall(t *testing.T) {
	for name, tt := range map[string]struct {
		scripts map[string]string
		want    []string
	}{
		"no java":  {nil, []string{"java", "install a JDK, version 17 or later"}},
		"old java": {map[string]string{"java": `echo 'java version "11.0.2"' >&2`, "mvn": ""}, []string{"java is version 11"}},
		"bad java": {map[string]string{"java": "echo no memory >&2; exit 1", "mvn": ""}, []string{"no memory"}},
		"no mvn":   {map[string]string{"java": java17}, []string{"mvn", "install Maven"}},
	} {
		t.Run(name, func(t *testing.T) {
			tools(t, true, tt.scripts)
			err := CheckTools(context.Background())
			says(t, err, tt.want...)
			if !errors.Is(err, ErrMissingTool) {
				t.Errorf("%v is not ErrMissingTool", err)
			}
		})
	}
	tools(t, true, map[string]string{"java": java17, "mvn": ""})
	if err := CheckTools(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestJarsAreCopiedOnceAndOnlyWhole(t *testing.T) {
	tools(t, false, map[string]string{"mvn": `echo '[ERROR] no network'; exit 1`})
	cache := t.TempDir()
	_, err := Jars(context.Background(), cache)
	says(t, err, "[ERROR] no network")
	if left, _ := os.ReadDir(cache); len(left) > 0 {
		t.Fatalf("a copy that failed left %v", left)
	}
	tools(t, false, map[string]string{"mvn": `for a in "$@"; do case $a in -DoutputDirectory=*) mkdir "${a#*=}" && : >"${a#*=}/one.jar"; esac; done`})
	dir, err := Jars(context.Background(), cache)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "one.jar")); err != nil {
		t.Fatal(err)
	}
	tools(t, false, map[string]string{"mvn": "exit 1"})
	if again, err := Jars(context.Background(), cache); err != nil || again != dir {
		t.Fatalf("asked again: %q, %v, want %q without Maven", again, err, dir)
	}
	if left, _ := os.ReadDir(cache); len(left) != 1 {
		t.Fatalf("the cache has %v, want the jars alone", left)
	}
}

// The first script formats; the second one is the broker.
func javaThat(format, broker string) map[string]string {
	return map[string]string{"java": `case " $* " in *StorageTool*) ` + format + ` ;; *) ` + broker + " ;; esac\n"}
}

func TestABrokerThatFailsShowsItsLogAndLeavesNothing(t *testing.T) {
	for name, tt := range map[string]struct {
		format, broker string
		want           []string
	}{
		"formatting": {"echo disk is full; exit 1", ":", []string{"formatting", "disk is full"}},
		"starting":   {":", "echo ERROR out of memory >&2; exit 1", []string{"ended before it answered", "exit status 1", "ERROR out of memory"}},
	} {
		t.Run(name, func(t *testing.T) {
			tools(t, false, javaThat(tt.format, tt.broker))
			_, err := Start(context.Background(), Config{Jars: t.TempDir()})
			says(t, err, tt.want...)
			leaves(t)
		})
	}
}

func TestAPortInUseIsNamed(t *testing.T) {
	const addr = "127.0.0.1:1" // where nobody listens, the script included
	tools(t, false, javaThat(":", "echo java.net.BindException: Address already in use; exit 1"))
	_, err := Start(context.Background(), Config{Jars: t.TempDir(), Addr: addr})
	says(t, err, addr, "name another address")
	leaves(t)
}

func TestABrokerThatDoesNotAnswerIsStopped(t *testing.T) {
	// It ends when it is asked to, and leaves a file that says so.
	tools(t, false, javaThat(":", `trap ': >"$TMPDIR/asked"; exit 0' TERM; echo waiting; while :; do sleep 0.02; done`))
	asked := filepath.Join(os.TempDir(), "asked")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { // Ctrl-C, once it runs
		for ctx.Err() == nil && !logged("waiting") {
			time.Sleep(5 * time.Millisecond)
		}
		cancel()
	}()
	_, err := Start(ctx, Config{Jars: t.TempDir()})
	says(t, err, "does not answer", "waiting")
	if _, err := os.Stat(asked); err != nil {
		t.Errorf("it was killed, not asked to end: %v", err)
	}
	leaves(t)
}

// logged reports whether the log of a broker that runs holds text.
func logged(text string) bool {
	logs, _ := filepath.Glob(filepath.Join(os.TempDir(), "tidemark-broker-*", "broker.log"))
	for _, path := range logs {
		if log, err := os.ReadFile(path); err == nil && strings.Contains(string(log), text) {
			return true
		}
	}
	return false
}
