package main

import (
	"context"
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// environment returns the configuration lines that say what was measured and
// on what. The test binary adds goos, goarch, pkg and cpu.
func environment(ctx context.Context) []benchfmt.Config {
	commit := output(ctx, "git", "rev-parse", "--short=12", "HEAD")
	dirty := "unknown"
	if commit != "" {
		// Kept results and the documents made from them change after a run.
		changed := output(ctx, "git", "status", "--porcelain", "--untracked-files=no", "--", ":!bench/results", ":!docs")
		dirty = strconv.FormatBool(changed != "")
	}
	var list []benchfmt.Config
	for _, c := range [][2]string{
		{"commit", commit},
		{"dirty", dirty},
		{"go", runtime.Version()},
		{"goamd64", output(ctx, "go", "env", "GOAMD64")},
		{"gomaxprocs", strconv.Itoa(runtime.GOMAXPROCS(0))},
		{"kernel", output(ctx, "uname", "-sr")},
	} {
		if c[1] != "" {
			list = append(list, benchfmt.Config{Key: c[0], Value: []byte(c[1]), File: true})
		}
	}
	return list
}

// output returns what a command prints, or "" if it fails: a tree without git
// can be measured too.
func output(ctx context.Context, name string, args ...string) string {
	out, err := exec.CommandContext(ctx, name, args...).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// commitOf returns the commit in a configuration, for a file name.
func commitOf(config []benchfmt.Config) string {
	for _, c := range config {
		if c.Key == "commit" {
			return string(c.Value)
		}
	}
	return "nocommit"
}
