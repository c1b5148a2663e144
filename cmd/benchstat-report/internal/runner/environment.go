package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// host reads what a machine says about itself below a root, which is "/" but
// in tests.
type host struct{ fs fs.FS }

func (h host) read(name string) string {
	text, err := fs.ReadFile(h.fs, name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// clocksource is what the kernel takes the time from: with another one than
// tsc each reading of the clock costs much more.
func (h host) clocksource() string {
	return h.read("sys/devices/system/clocksource/clocksource0/current_clocksource")
}

// load is the load average of the last minute, "" where there is none.
func (h host) load() string {
	load, _, _ := strings.Cut(h.read("proc/loadavg"), " ")
	return load
}

// quota is how many processors the control group allows: a number, "none" for
// no limit, "" where that is not known. The tightest limit from the process's
// own group upwards holds.
func (h host) quota() string {
	known, tightest := false, 0.0
	limit := func(quota, period string) {
		q, errQ := strconv.ParseFloat(quota, 64)
		p, errP := strconv.ParseFloat(period, 64)
		if quota != "max" && (errQ != nil || errP != nil || p <= 0) {
			return
		}
		known = true
		if cpus := q / p; quota != "max" && q > 0 && (tightest == 0 || cpus < tightest) {
			tightest = cpus
		}
	}
	for line := range strings.Lines(h.read("proc/self/cgroup")) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 {
			continue
		}
		for group := path.Clean("/" + part[2]); ; group = path.Dir(group) {
			switch {
			case part[1] == "":
				quota, period, _ := strings.Cut(h.read(path.Join("sys/fs/cgroup", group, "cpu.max")), " ")
				limit(quota, period)
			case strings.Contains(","+part[1]+",", ",cpu,"):
				for _, mount := range []string{"cpu", "cpu,cpuacct"} {
					at := path.Join("sys/fs/cgroup", mount, group)
					limit(h.read(path.Join(at, "cpu.cfs_quota_us")), h.read(path.Join(at, "cpu.cfs_period_us")))
				}
			}
			if group == "/" {
				break
			}
		}
	}
	switch {
	case !known:
		return ""
	case tightest == 0:
		return "none"
	}
	return strconv.FormatFloat(tightest, 'g', 4, 64)
}

// kernel is the name and release of the operating system.
func (h host) kernel(ctx context.Context) string {
	if release := h.read("proc/sys/kernel/osrelease"); release != "" {
		return h.read("proc/sys/kernel/ostype") + " " + release
	}
	name, err := output(ctx, ".", "uname", "-sr")
	if err != nil {
		return runtime.GOOS
	}
	return name
}

// level is the instruction set level that Go builds for, such as goamd64 v1.
func level(ctx context.Context, dir string) (key, value string) {
	key = map[string]string{"amd64": "GOAMD64", "arm64": "GOARM64", "arm": "GOARM", "386": "GO386", "riscv64": "GORISCV64", "ppc64le": "GOPPC64"}[runtime.GOARCH]
	if key == "" {
		return "", ""
	}
	value, err := output(ctx, dir, "go", "env", key)
	if err != nil {
		return "", ""
	}
	return strings.ToLower(key), value
}

// machine returns the lines of configuration that hold for the whole run.
func machine(ctx context.Context, h host, dir string) []benchfmt.Config {
	var list []benchfmt.Config
	key, value := level(ctx, dir)
	for _, c := range [][2]string{
		{key, value},
		{"gomaxprocs", strconv.Itoa(runtime.GOMAXPROCS(0))},
		{"kernel", h.kernel(ctx)},
		{"clocksource", h.clocksource()},
		{"cgroup-quota", h.quota()},
	} {
		list = with(list, c[0], c[1])
	}
	return list
}

// with adds a line of configuration, if there is something to say.
func with(list []benchfmt.Config, key, value string) []benchfmt.Config {
	if key == "" || value == "" {
		return list
	}
	return append(list, benchfmt.Config{Key: key, Value: []byte(value), File: true})
}

// thisHost is the machine the runner runs on.
func thisHost() host { return host{os.DirFS("/")} }

// quiet tells what stands against trustworthy figures before a run begins.
func (h host) quiet() error {
	var reasons []error
	if c := h.clocksource(); c != "" && c != "tsc" && runtime.GOARCH == "amd64" {
		reasons = append(reasons, fmt.Errorf("the clocksource is %s, not tsc: readings of the clock are slow", c))
	}
	if load, err := strconv.ParseFloat(h.load(), 64); err == nil && load > float64(runtime.NumCPU())/2 {
		reasons = append(reasons, fmt.Errorf("the load is %.1f on %d processors: something else is running", load, runtime.NumCPU()))
	}
	if q, err := strconv.ParseFloat(h.quota(), 64); err == nil && q < float64(runtime.GOMAXPROCS(0)) {
		reasons = append(reasons, fmt.Errorf("the control group allows %v processors and GOMAXPROCS is %d: the process is stopped when it uses more", q, runtime.GOMAXPROCS(0)))
	}
	return errors.Join(reasons...)
}
