package runner

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// probe is what a calibration pass found out about one benchmark of one
// binary.
type probe struct {
	name string // without the suffix for GOMAXPROCS
	cpu  int
	// iterations is how many of them filled the time of the pass, 1 also if
	// the first took longer than that.
	iterations int
	took       time.Duration // with all that is around them
	err        error
}

// calibrate runs the selected benchmarks of a binary once, in one process. A
// benchmark that ends the process, or does not end, is noted, and the pass
// goes on without it and those before it. See is told each benchmark that
// begins.
func (o *Options) calibrate(ctx context.Context, b binary, benchtime string, cpu int, see func(name string)) ([]*probe, error) {
	var all []*probe
	skip := ""
	for {
		found, err := o.pass(ctx, b, benchtime, cpu, skip, see)
		all = append(all, found...)
		if err == nil {
			return all, nil
		}
		var last *probe
		if len(found) > 0 {
			last = found[len(found)-1]
		}
		if ctx.Err() != nil || last == nil {
			return nil, stopped(ctx, fmt.Errorf("%w: before the first benchmark of %s: %w", ErrFailed, b.dir, err))
		}
		last.err = err
		var names []string
		for _, p := range all {
			names = append(names, exactly(p.name))
		}
		skip = strings.Join(names, "|")
	}
}

// pass is one process of a calibration. With an error it ended too early, and
// its last probe is the benchmark that ran then or just before.
func (o *Options) pass(ctx context.Context, b binary, benchtime string, cpu int, skip string, see func(name string)) ([]*probe, error) {
	running, kill := context.WithCancelCause(ctx)
	defer kill(nil)
	args := append(o.arguments(o.Bench, benchtime, cpu), "-test.v=true")
	if skip != "" {
		args = append(args, "-test.skip="+skip)
	}
	cmd := exec.CommandContext(running, b.path, args...)
	cmd.Dir = b.dir
	cmd.WaitDelay = waitDelay
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	pipe, w := io.Pipe()
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("run: %w", err)
	}
	slow := time.AfterFunc(o.Timeout, func() { kill(fmt.Errorf("it did not end within %v (-timeout)", o.Timeout)) })
	defer slow.Stop()
	ended := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		w.CloseWithError(io.EOF)
		ended <- err
	}()
	l := listing{suffix: suffix(cpu), since: time.Now(), see: see}
	r := bufio.NewReader(pipe)
	for {
		line, err := r.ReadString('\n')
		l.line(line)
		if err != nil {
			break
		}
		slow.Reset(o.Timeout)
	}
	err := <-ended
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("run: %w", ctx.Err())
	case err == nil || l.complete: // what failed says so, or will in its own process
		return l.rows(false), nil
	case running.Err() != nil:
		return l.rows(true), context.Cause(running)
	}
	return l.rows(true), fmt.Errorf("%w\n%s", err, tail(append(l.said.Bytes(), complaint.Bytes()...)))
}

// suffix is what Go adds to the names with so many processors.
func suffix(cpu int) string {
	if cpu == 0 {
		cpu = runtime.GOMAXPROCS(0)
	}
	if cpu == 1 {
		return ""
	}
	return "-" + strconv.Itoa(cpu)
}

// listing reads the output of a pass. A benchmark writes its name when it
// starts, and again with its result.
type listing struct {
	suffix  string
	since   time.Time
	all     []*probe
	parents map[string]bool
	state   map[string]state
	// said is what was printed since the last name or result, for an error.
	said bytes.Buffer
	see  func(name string)
	// complete says that all selected benchmarks had their turn.
	complete bool
}

type state int

const (
	begun state = iota
	reported
	bad
	passedOver
)

var errNoResult = errors.New("it reported no result")

func (l *listing) line(text string) {
	f := strings.Fields(text)
	switch {
	case len(f) >= 3 && f[0] == "---" && f[1] == "FAIL:":
		l.end(f[2], bad, nil)
	case len(f) >= 3 && f[0] == "---" && f[1] == "SKIP:":
		l.end(f[2], passedOver, nil)
	case len(f) == 1 && strings.HasPrefix(f[0], "Benchmark"):
		l.begin(f[0])
		l.said.Reset()
		return
	case text == "PASS\n" || text == "FAIL\n":
		l.complete = true
	case len(f) >= 4 && strings.HasPrefix(f[0], "Benchmark"):
		if n, err := strconv.Atoi(f[1]); err == nil {
			l.end(f[0], reported, func(p *probe) { p.iterations = n })
			return
		}
	}
	l.said.WriteString(text)
}

// begin notes that a benchmark starts. What it is a part of has no result of
// its own.
func (l *listing) begin(name string) {
	if l.state == nil {
		l.state, l.parents = map[string]state{}, map[string]bool{}
	}
	for i, c := range name {
		if c == '/' {
			l.parents[name[:i]] = true
		}
	}
	l.state[name] = begun
	l.see(name)
	l.all = append(l.all, &probe{name: name, err: errNoResult})
}

// end notes what became of a benchmark. Go writes the name without the suffix
// if it failed before it was measured.
func (l *listing) end(printed string, s state, set func(*probe)) {
	for _, name := range []string{printed, strings.TrimSuffix(printed, l.suffix)} {
		for i := len(l.all) - 1; i >= 0; i-- {
			p := l.all[i]
			if p.name != name || l.state[name] != begun {
				continue
			}
			l.state[name] = s
			now := time.Now()
			p.took, l.since = now.Sub(l.since), now
			if p.err = nil; s == bad {
				p.err = fmt.Errorf("it failed\n%s", tail(l.said.Bytes()))
			}
			if set != nil {
				set(p)
			}
			l.said.Reset()
			return
		}
	}
}

// rows returns the benchmarks that have a result or should have one. If the
// process ended too early the last one is what ran then, or just before.
//
// A benchmark that panics tells that it is over before it ends the process, so
// that the next one may begin meanwhile. That one comes in the next pass.
func (l *listing) rows(early bool) []*probe {
	all := l.all
	if n := len(all); early {
		for i := n - 2; i >= 0; i-- {
			if name := all[i].name; !l.parents[name] {
				if l.state[name] == begun {
					all = all[:i+1]
				}
				break
			}
		}
	}
	var rows []*probe
	for i, p := range all {
		state, last := l.state[p.name], early && i == len(all)-1
		switch {
		case state == reported || last:
			rows = append(rows, p)
		case state == bad && !l.parents[p.name]: // a parent fails with its part
			rows = append(rows, p)
		case state == begun && !early && !l.parents[p.name]:
			rows = append(rows, p)
		}
	}
	return rows
}
