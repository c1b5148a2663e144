package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// The names of the legs, as the file gives them under the key leg.
const (
	legBase = "base"
	legNew  = "new"
)

// leg is one side of a comparison, a tree of sources.
type leg struct {
	name   string // empty if there is only one
	commit string
	date   string // of the commit
	dirty  string
	// old and moved translate a folder of the working tree into the leg's.
	old, moved string
}

// dir returns where a folder of the working tree is in the leg.
func (l *leg) dir(path string) (string, error) {
	if l.moved == "" {
		return path, nil
	}
	rel, err := filepath.Rel(l.old, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%w: %s is not in the repository %s", ErrUsage, path, l.old)
	}
	return filepath.Join(l.moved, rel), nil
}

// pkg is a package to measure.
type pkg struct {
	request
	dir      string // in the working tree
	binaries []binary
}

// binary is the test binary of a package in one leg.
type binary struct {
	leg  *leg
	path string
	dir  string // where it runs
	goes string // the Go version that built it
}

// resolve finds the folders of the packages. A folder is looked at in its own
// module, whatever module the command started in.
func resolve(ctx context.Context, requests []request) ([]*pkg, error) {
	var list []*pkg
	seen := map[string]bool{}
	for _, r := range requests {
		dir, pattern := ".", r.path
		if isDir(r.path) {
			dir, pattern = r.path, "."
		}
		out, err := output(ctx, dir, "go", "list", "-f", "{{.Dir}}\t{{len .TestGoFiles}}{{len .XTestGoFiles}}", pattern)
		if err != nil {
			return nil, stopped(ctx, fmt.Errorf("%w: package %s: %w", ErrUsage, r.path, err))
		}
		one := !strings.Contains(r.path, "...")
		for line := range strings.Lines(out) {
			path, tests, _ := strings.Cut(strings.TrimSpace(line), "\t")
			if tests == "00" && !one {
				continue
			}
			if path = canonical(path); !seen[path] {
				seen[path] = true
				list = append(list, &pkg{request: r, dir: path})
			}
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: the packages have no tests, and so no benchmarks", ErrUsage)
	}
	return list, nil
}

// output runs a command in dir. Its error holds what it complained of.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		err = errors.New(strings.TrimSpace(string(exit.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}

// legs prepares the trees to measure, and returns what removes them.
func (o *Options) legs(ctx context.Context, pkgs []*pkg, temp string) ([]*leg, func() error, error) {
	dir := pkgs[0].dir
	now := &leg{commit: commitIn(ctx, dir), dirty: "unknown"}
	now.date = dateOf(ctx, dir, now.commit)
	changed, err := changedIn(ctx, dir, o.Out)
	if err == nil {
		now.dirty = fmt.Sprint(len(changed) > 0)
	}
	nothing := func() error { return nil }
	switch {
	case o.AA:
		base := *now
		base.name, now.name = legBase, legNew
		return []*leg{&base, now}, nothing, nil
	case o.Base == "":
		return []*leg{now}, nothing, nil
	}
	if _, missing := exec.LookPath("git"); missing != nil {
		return nil, nil, fmt.Errorf("%w: -base %s needs git: %w", ErrUsage, o.Base, missing)
	}
	top, topErr := topOf(ctx, dir)
	if topErr != nil {
		return nil, nil, stopped(ctx, fmt.Errorf("%w: -base %s: %s is not in a git repository: %w", ErrUsage, o.Base, dir, topErr))
	}
	if err != nil {
		return nil, nil, stopped(ctx, fmt.Errorf("run: %w", err))
	}
	if len(changed) > 0 && !o.Dirty {
		return nil, nil, fmt.Errorf("%w: -base %s: changes that are in no commit, in %s (%s); commit them, or add -dirty to measure them too",
			ErrUsage, o.Base, counted(len(changed), "file"), some(changed))
	}
	tree := filepath.Join(temp, "base")
	commit, remove, err := worktree(ctx, top, o.Base, tree)
	if err != nil {
		return nil, nil, err
	}
	now.name = legNew
	return []*leg{{name: legBase, commit: commit, date: dateOf(ctx, top, commit), dirty: "false", old: top, moved: canonical(tree)}, now}, remove, nil
}

// some names the first few of a list.
func some(names []string) string {
	const most = 3
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// executable ends the names of programs.
var executable = map[bool]string{true: ".exe"}[runtime.GOOS == "windows"]

// build compiles the test binaries of a package. A package that the base leg
// lacks is measured in the new one alone.
func (p *pkg) build(ctx context.Context, legs []*leg, temp string, n int, say func(string, ...any)) error {
	for _, l := range legs {
		dir, err := l.dir(p.dir)
		if err != nil {
			return err
		}
		if l.moved != "" && !isDir(dir) {
			say("%s is not in the base leg (%s): it is measured in the new one alone", p.path, l.commit)
			continue
		}
		say("building %s", strings.TrimSpace(p.path+" "+l.name))
		path := filepath.Join(temp, fmt.Sprintf("%d%s.test%s", n, l.name, executable))
		text, err := output(ctx, dir, "go", "test", "-c", "-o", path, ".")
		if err != nil {
			return stopped(ctx, fmt.Errorf("%w: go test -c in %s: %w", ErrUsage, dir, err))
		}
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("%w: %s has no benchmarks: go test -c says %q", ErrUsage, dir, text)
		}
		version, err := output(ctx, dir, "go", "env", "GOVERSION")
		if err != nil {
			return stopped(ctx, fmt.Errorf("run: go env GOVERSION: %w", err))
		}
		p.binaries = append(p.binaries, binary{leg: l, path: path, dir: dir, goes: version})
	}
	return nil
}
