package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// waitDelay is how long a process that was killed may keep its output open,
// through children of its own.
const waitDelay = time.Second

// arguments are those of a test binary that runs benchmarks alone.
func (o *Options) arguments(bench, benchtime string, cpu int) []string {
	args := []string{"-test.run=^$", "-test.bench=" + bench, "-test.benchtime=" + benchtime}
	if cpu > 0 {
		args = append(args, "-test.cpu="+strconv.Itoa(cpu))
	}
	if o.Mem {
		args = append(args, "-test.benchmem")
	}
	return args
}

// exactly is the pattern that selects the benchmark of this name alone, and
// what is below it.
func exactly(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}

// runArm runs an arm of a row in a process of its own.
func (o *Options) runArm(ctx context.Context, a *arm, iterations int) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	cmd := exec.CommandContext(limited, a.binary.path, o.arguments(exactly(a.name), strconv.Itoa(iterations)+"x", a.cpu)...)
	cmd.Dir = a.binary.dir
	cmd.WaitDelay = waitDelay
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	switch {
	case err == nil:
		return out, nil
	case ctx.Err() == nil && errors.Is(limited.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("it did not end within %v (-timeout)", o.Timeout)
	}
	return nil, stopped(ctx, fmt.Errorf("%w\n%s", err, tail(append(out, complaint.Bytes()...))))
}

// tail returns the end of what a process printed, which names the failure.
func tail(text []byte) string {
	const most = 2000
	text = bytes.TrimSpace(text)
	if len(text) > most {
		return "…" + string(bytes.ToValidUTF8(text[len(text)-most:], nil))
	}
	return string(text)
}

// stopped returns the reason ctx was cancelled rather than its consequence. An
// interrupt from a terminal reaches the child too, which may end first.
func stopped(ctx context.Context, err error) error {
	select {
	case <-ctx.Done():
		return fmt.Errorf("run: %w", ctx.Err())
	case <-time.After(100 * time.Millisecond):
		return err
	}
}
