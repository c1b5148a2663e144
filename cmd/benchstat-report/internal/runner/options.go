package runner

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// ErrUsage marks what the caller gave and cannot be measured: wrong flags, a
// revision that does not exist, sources that do not build, a pattern that
// matches nothing.
var ErrUsage = errors.New("run: cannot measure")

// ErrFailed marks a run in which a benchmark failed. What the others reported
// is in the file.
var ErrFailed = errors.New("run: a benchmark failed")

// Limits and defaults of a run.
const (
	DefaultRounds    = 10
	DefaultBenchtime = 100 * time.Millisecond
	DefaultTimeout   = 2 * time.Minute
	DefaultKey       = "/impl"
)

// Options say what to measure and how.
type Options struct {
	Packages []string
	// Bench selects benchmarks as -bench of go test does, by a regular
	// expression for each level between slashes.
	Bench string
	// By is the key of a row's name that tells its arms apart, such as /impl.
	By string
	// Impl selects arms by the value of By.
	Impl *regexp.Regexp
	// Rounds is how often each arm is measured, and Benchtime how long; zero
	// lets Budget choose.
	Rounds    int
	Benchtime Benchtime
	// Budget is how long the whole run may take; zero means that it is not
	// limited.
	Budget time.Duration
	// Extra is how often a row is measured again if its arms have too few
	// samples in one regime; negative leaves it to the runner.
	Extra    int
	Timeout  time.Duration
	Base     string // revision of the base leg
	AA       bool   // two legs of the same sources
	Dirty    bool   // measure against Base in spite of changes
	CPU      []int  // values of GOMAXPROCS; none means the environment's
	Mem      bool   // report allocations
	Out      string // result file; empty means standard output
	Stdout   io.Writer
	Progress io.Writer
	// Terminal says that Progress is one, so that a line can be written over.
	Terminal bool
	// bounce replaces the measurement of how far apart the cores are, in tests.
	bounce func() float64
}

// Benchtime is how long an arm runs: a duration, or a number of iterations.
type Benchtime struct {
	Duration time.Duration
	Count    int
}

func (t Benchtime) isZero() bool { return t == Benchtime{} }

// String returns the value as -benchtime takes it.
func (t Benchtime) String() string {
	switch {
	case t.Count > 0:
		return strconv.Itoa(t.Count) + "x"
	case t.Duration > 0:
		return t.Duration.String()
	}
	return ""
}

// Set reads a value of -benchtime.
func (t *Benchtime) Set(s string) error {
	if n, ok := strings.CutSuffix(s, "x"); ok {
		count, err := strconv.Atoi(n)
		if err != nil || count < 1 {
			return fmt.Errorf("%q is not a number of iterations, such as 100x", s)
		}
		*t = Benchtime{Count: count}
		return nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return fmt.Errorf("%q is neither a duration, such as 100ms, nor a number of iterations, such as 100x", s)
	}
	*t = Benchtime{Duration: d}
	return nil
}

// Flags are the options of a command line.
type Flags struct {
	Options
	impl, cpu string
	set       *flag.FlagSet
}

// NewFlags adds the options to a set of flags. After it has parsed, Finish
// returns them.
func NewFlags(fs *flag.FlagSet) *Flags {
	o := &Flags{set: fs}
	fs.StringVar(&o.Bench, "bench", ".", "benchmarks to run: a `regexp` for each level of the name, as for go test")
	fs.StringVar(&o.impl, "impl", "", "arms to run: a `regexp` of the value of the -by key (default all)")
	fs.StringVar(&o.By, "by", DefaultKey, "the `key` in the names that tells the arms of a row apart")
	fs.IntVar(&o.Rounds, "rounds", 0, fmt.Sprintf("how `often` each arm is measured (default %d, or what -time allows)", DefaultRounds))
	fs.Var(&o.Benchtime, "benchtime", fmt.Sprintf("how `long` an arm runs (500ms), or how many iterations (10x) (default %v, or what -time allows)", DefaultBenchtime))
	fs.DurationVar(&o.Budget, "time", 0, "how long the whole run may take; it chooses what -rounds and -benchtime do not say")
	fs.IntVar(&o.Extra, "extra", 0, "how `often` a row is measured again that lacks samples of one regime (default with -time: half the rounds)")
	fs.DurationVar(&o.Timeout, "timeout", DefaultTimeout, "how long one process may take")
	fs.StringVar(&o.Base, "base", "", "compare with this `revision`, built in a git worktree of its own")
	fs.BoolVar(&o.AA, "aa", false, "compare these sources with themselves: what differs then is noise")
	fs.BoolVar(&o.Dirty, "dirty", false, "with -base: measure uncommitted changes too")
	fs.StringVar(&o.cpu, "cpu", "", "a `list` of values of GOMAXPROCS, such as 1,2,4 (default the environment's)")
	fs.BoolVar(&o.Mem, "benchmem", false, "report the allocations of every benchmark")
	fs.StringVar(&o.Out, "o", "", "the result `file` (default standard output)")
	return o
}

// Finish returns the options with the packages that the command line names,
// or what is wrong with them.
func (f *Flags) Finish(packages []string) (Options, error) {
	f.Packages = packages
	if err := f.Options.finish(f.impl, f.cpu, f.set); err != nil {
		return Options{}, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	return f.Options, nil
}

// finish checks what the flags say together, and fills in what they do not.
func (o *Options) finish(impl, cpu string, fs *flag.FlagSet) error {
	var err error
	if o.Impl, err = regexp.Compile(impl); err != nil {
		return fmt.Errorf("-impl: %w", err)
	}
	for part := range strings.SplitSeq(o.Bench, "/") {
		if _, err := regexp.Compile(part); err != nil {
			return fmt.Errorf("-bench %s: %w", o.Bench, err)
		}
	}
	if cpu != "" {
		for part := range strings.SplitSeq(cpu, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(part))
			if err != nil || n < 1 {
				return fmt.Errorf("-cpu %s: %q is not a number of processors, 1 or more", cpu, part)
			}
			o.CPU = append(o.CPU, n)
		}
	} else {
		o.CPU = []int{0}
	}
	if !strings.HasPrefix(o.By, "/") || strings.ContainsAny(o.By[1:], "/= ") || o.By == "/" {
		return fmt.Errorf("-by %s: want a key of the names with its slash, such as %s", o.By, DefaultKey)
	}
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	switch {
	case given["rounds"] && o.Rounds < 1:
		return fmt.Errorf("-rounds %d: want 1 or more", o.Rounds)
	case given["extra"] && o.Extra < 0:
		return fmt.Errorf("-extra %d: want 0 or more", o.Extra)
	case given["time"] && o.Budget <= 0:
		return fmt.Errorf("-time %v: want more than nothing", o.Budget)
	case o.Timeout <= 0:
		return fmt.Errorf("-timeout %v: want more than nothing", o.Timeout)
	case o.AA && o.Base != "":
		return errors.New("-aa and -base: give one of them, the base leg is either these sources or a revision")
	case o.Dirty && o.Base == "":
		return errors.New("-dirty: it goes with -base")
	case given["base"] && o.Base == "":
		return errors.New("-base: want a revision, such as HEAD~1 or a tag")
	}
	if o.Budget == 0 {
		if o.Rounds == 0 {
			o.Rounds = DefaultRounds
		}
		if o.Benchtime.isZero() {
			o.Benchtime.Duration = DefaultBenchtime
		}
	} else if !given["extra"] {
		o.Extra = -1
	}
	return nil
}

// command returns the line that measures the same, whatever the file.
func (o *Options) command() string {
	parts := []string{"benchstat-report", "run"}
	add := func(name, value, standard string) {
		if value != standard {
			parts = append(parts, "-"+name, quote(value))
		}
	}
	add("time", text(o.Budget), "")
	if o.Rounds > 0 {
		parts = append(parts, "-rounds", strconv.Itoa(o.Rounds))
	}
	add("benchtime", o.Benchtime.String(), "")
	add("bench", o.Bench, ".")
	add("by", o.By, DefaultKey)
	add("impl", o.Impl.String(), "")
	add("base", o.Base, "")
	for _, f := range []struct {
		name string
		on   bool
	}{{"aa", o.AA}, {"dirty", o.Dirty}, {"benchmem", o.Mem}} {
		if f.on {
			parts = append(parts, "-"+f.name)
		}
	}
	if len(o.CPU) > 1 || o.CPU[0] > 0 {
		parts = append(parts, "-cpu", strings.Trim(strings.ReplaceAll(fmt.Sprint(o.CPU), " ", ","), "[]"))
	}
	if o.Extra > 0 || o.Extra == 0 && o.Budget > 0 {
		parts = append(parts, "-extra", strconv.Itoa(o.Extra))
	}
	for _, p := range o.Packages {
		parts = append(parts, quote(p))
	}
	return strings.Join(parts, " ")
}

func text(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return strings.TrimSuffix(d.String(), "m0s") + map[bool]string{true: "m"}[strings.HasSuffix(d.String(), "m0s")]
}

var plain = regexp.MustCompile(`^[A-Za-z0-9_./,=:@~^+-]+$`)

// quote makes one word of a shell of s.
func quote(s string) string {
	if plain.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// request is one package of the command line, with what holds for it alone.
type request struct {
	path      string
	benchtime Benchtime
	rounds    int
}

// requests reads the packages of the command line.
func (o *Options) requests() ([]request, error) {
	list := o.Packages
	if len(list) == 0 {
		list = []string{"."}
		if found, _ := filepath.Glob(filepath.Join("bench", "*_test.go")); len(found) > 0 {
			list = []string{"./bench"}
		}
	}
	var out []request
	for _, arg := range list {
		path, rest, _ := strings.Cut(arg, ",")
		r := request{path: path}
		for rest != "" {
			var part string
			part, rest, _ = strings.Cut(rest, ",")
			key, value, _ := strings.Cut(part, "=")
			var err error
			switch key {
			case "benchtime":
				err = r.benchtime.Set(value)
			case "rounds":
				r.rounds, err = strconv.Atoi(value)
				if err == nil && r.rounds < 1 {
					err = errors.New("want 1 or more")
				}
			default:
				err = errors.New("want benchtime=… or rounds=…")
			}
			if err != nil {
				return nil, fmt.Errorf("%w: package %s: %q: %w", ErrUsage, arg, part, err)
			}
		}
		out = append(out, r)
	}
	return out, nil
}

// isDir reports whether path is a folder.
func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
