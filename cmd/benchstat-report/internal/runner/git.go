package runner

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// notSources are files whose changes do not count: they do not go into what
// is measured, and documents with figures change after every run.
var notSources = []string{":(top,exclude)*.md", ":(top,exclude)*.svg", ":(top,exclude)*.html"}

// git runs git in dir and returns what it prints.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err == nil {
		return strings.TrimRight(string(out), "\n"), nil
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		err = errors.New(strings.TrimSpace(string(exit.Stderr)))
	}
	return "", fmt.Errorf("git %s: %w", args[0], err)
}

// commitIn returns the commit that is checked out in dir, "" if that is not
// known: sources without git can be measured too.
func commitIn(ctx context.Context, dir string) string {
	commit, err := git(ctx, dir, "rev-parse", "--short=12", "HEAD")
	if err != nil {
		return ""
	}
	return commit
}

// dateOf returns when a commit was made, in UTC, so that results are in order
// also where the repository is not at hand; "" if that is not known.
func dateOf(ctx context.Context, dir, commit string) string {
	if commit == "" {
		return ""
	}
	text, err := git(ctx, dir, "show", "--no-patch", "--format=%ct", "--end-of-options", commit)
	if err != nil {
		return ""
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return ""
	}
	return time.Unix(seconds, 0).UTC().Format(time.RFC3339)
}

// changedIn returns the changed files of dir's repository that can go into
// what is measured: those that git follows, and new ones that Go would build.
// The result file of an earlier run is not one of them.
func changedIn(ctx context.Context, dir, resultFile string) ([]string, error) {
	args := []string{"status", "--porcelain", "--untracked-files=all", "--no-renames", "--", ":(top)"}
	args = append(args, notSources...)
	if resultFile != "" {
		path, err := filepath.Abs(resultFile)
		if err != nil {
			return nil, err
		}
		if top, err := topOf(ctx, dir); err == nil {
			if rel, err := filepath.Rel(top, canonical(path)); err == nil && filepath.IsLocal(rel) {
				args = append(args, ":(top,exclude,literal)"+filepath.ToSlash(rel))
			}
		}
	}
	out, err := git(ctx, dir, args...)
	if err != nil {
		return nil, err
	}
	var changed []string
	for line := range strings.Lines(out) {
		state, name := line[:min(2, len(line))], strings.TrimSpace(line[min(3, len(line)):])
		if state == "??" && !built(name) {
			continue
		}
		changed = append(changed, name)
	}
	return changed, nil
}

// built reports whether Go builds a file of the name.
func built(name string) bool {
	switch filepath.Ext(name) {
	case ".go", ".s", ".S", ".c", ".h", ".mod", ".sum", ".work":
		return true
	}
	return false
}

// topOf returns the folder of the repository that dir is in.
func topOf(ctx context.Context, dir string) (string, error) {
	top, err := git(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return "", err
	}
	return canonical(filepath.FromSlash(top)), nil
}

// canonical resolves links in the part of a path that exists.
func canonical(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	dir, name := filepath.Split(filepath.Clean(path))
	if dir == "" || name == "" {
		return path
	}
	return filepath.Join(canonical(dir), name)
}

// worktree checks out a revision in a folder of its own and returns its commit
// and what removes it again. No hook of the repository runs.
func worktree(ctx context.Context, top, revision, dir string) (commit string, remove func() error, err error) {
	commit, err = git(ctx, top, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	if err != nil {
		if ctx.Err() != nil {
			return "", nil, fmt.Errorf("run: %w", ctx.Err())
		}
		return "", nil, fmt.Errorf("%w: -base %s: there is no such revision in %s", ErrUsage, revision, top)
	}
	clean := context.WithoutCancel(ctx) // an interrupted run leaves nothing behind either
	remove = func() error {
		_, err := git(clean, top, "worktree", "remove", "--force", dir)
		if err != nil {
			return fmt.Errorf("run: %w", err)
		}
		return nil
	}
	if _, err := git(ctx, top, "-c", "core.hooksPath=/dev/null", "worktree", "add", "--detach", dir, commit); err != nil {
		_, _ = git(clean, top, "worktree", "prune") // what was begun, if anything
		return "", nil, stopped(ctx, fmt.Errorf("run: %w", err))
	}
	return commit[:12], remove, nil
}
