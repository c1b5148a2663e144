package parse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchunit"
)

// Set is the results of the inputs of one command.
type Set struct {
	// Files are the labels of the inputs, in their order.
	Files   []string
	Results []*Result
	Units   benchfmt.UnitMetadataMap
	// Syntax are the lines that should be results and cannot be read as such.
	Syntax []*benchfmt.SyntaxError
	// Failures are the lines that say that a benchmark failed.
	Failures []Failure
	// Commands are the command lines that the runner wrote.
	Commands []string

	// reader carries the Unit lines from one input to the next.
	reader benchfmt.Reader
}

// Result is one result line. Its values are not filtered.
type Result struct {
	*benchfmt.Result
	// File is the label of the input, Path its name and Line the place in it.
	File, Path string
	Line       int
}

// Failure is a line that says that a benchmark failed.
type Failure struct {
	Path string
	Line int
	Text string
}

func (f Failure) String() string { return fmt.Sprintf("%s:%d: %s", f.Path, f.Line, f.Text) }

// CommandMark begins the line in which the runner says how it was called.
const CommandMark = "# "

// InputError is an input that cannot be read.
type InputError struct {
	Path string
	// What it is, and what to Do about it.
	What, Do string
	// Err is the cause, if there is one.
	Err error
}

func (e *InputError) Error() string {
	text := fmt.Sprintf("parse: %s: %s", e.Path, e.What)
	if e.Do != "" {
		text += ": " + e.Do
	}
	return text
}

// Unwrap returns the cause.
func (e *InputError) Unwrap() error { return e.Err }

// Read reads inputs: paths, label=path, and "-" for stdin. The error joins an
// InputError for each input that cannot be read.
func Read(args []string, stdin io.Reader) (*Set, error) {
	s := &Set{Units: benchfmt.UnitMetadataMap{}}
	var errs []error
	for _, in := range inputs(args) {
		data, err := in.read(stdin)
		if err == nil {
			err = s.add(in, data)
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	if s.reader.Units() != nil {
		s.Units = s.reader.Units()
	}
	return s, errors.Join(errs...)
}

// input is one argument.
type input struct {
	path, label string
}

// inputs tells labels from paths as benchfmt.Files does, but that a file whose
// name holds "=" needs no label.
func inputs(args []string) []input {
	var list []input
	count, labeled := map[string]int{}, map[int]bool{}
	for i, arg := range args {
		in := input{arg, arg}
		if label, path, ok := strings.Cut(arg, "="); ok && !(exists(arg) && !exists(path)) {
			in, labeled[i] = input{path, label}, true
		} else {
			count[arg]++
		}
		list = append(list, in)
	}
	seen := map[string]int{}
	for i := range list {
		if path := list[i].path; !labeled[i] && count[path] > 1 {
			list[i].label = fmt.Sprintf("%s#%d", path, seen[path])
			seen[path]++
		}
	}
	return list
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (in input) read(stdin io.Reader) ([]byte, error) {
	var data []byte
	var err error
	if in.path == "-" {
		data, err = io.ReadAll(stdin)
	} else if info, statErr := os.Stat(in.path); statErr == nil && info.IsDir() {
		return nil, &InputError{Path: in.path, What: "is a directory", Do: "name the files in it, such as " + in.path + "/*.txt"}
	} else {
		data, err = os.ReadFile(in.path)
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil, &InputError{in.path, "no such file", `check the name; "go test -bench . -count 10 > FILE" or the verb run makes one`, err}
	}
	if err != nil {
		return nil, &InputError{Path: in.path, What: err.Error(), Err: err}
	}
	return data, nil
}

// add reads the text of an input.
func (s *Set) add(in input, data []byte) error {
	if err := sniff(in.path, data); err != nil {
		return err
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	look := scanLines(in.path, data)
	s.Failures = append(s.Failures, look.failures...)
	s.Commands = append(s.Commands, look.commands...)
	syntax := slices.Clone(look.syntax)
	first := len(s.Results)
	reader := &s.reader
	reader.Reset(bytes.NewReader(data), in.path, ".file", in.label)
	for reader.Scan() {
		_, line := reader.Result().Pos()
		switch r := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			if !look.explained[line] {
				syntax = append(syntax, r)
			}
		case *benchfmt.Result:
			if !look.explained[line] {
				c := r.Clone()
				tidy(c)
				s.Results = append(s.Results, &Result{c, in.label, in.path, line})
			}
		}
	}
	if err := reader.Err(); err != nil {
		return &InputError{in.path, err.Error(), "a line of more than 64 KiB is no result: keep the program's output out of the file", err}
	}
	if cut := s.cutOff(first, data, in.path); cut != nil {
		syntax = append(syntax, cut)
	}
	slices.SortStableFunc(syntax, func(a, b *benchfmt.SyntaxError) int { return a.Line - b.Line })
	s.Syntax = append(s.Syntax, syntax...)
	s.Files = append(s.Files, in.label)
	if len(s.Results) == first && len(syntax) == 0 && len(look.failures) == 0 {
		return noResults(in.path, data)
	}
	return nil
}

// tidy gives values that benchfmt could not rescale the unit of all others.
func tidy(r *benchfmt.Result) {
	for i, v := range r.Values {
		if v.OrigUnit != "" {
			continue
		}
		if _, unit := benchunit.Tidy(1, v.Unit); unit != v.Unit {
			r.Values[i] = benchfmt.Value{Value: v.Value, Unit: unit, OrigValue: v.Value, OrigUnit: v.Unit}
		}
	}
}

// cutOff takes back the last result of a file that ends within it: there is no
// end of line, and a unit that no other line of the file has.
func (s *Set) cutOff(first int, data []byte, path string) *benchfmt.SyntaxError {
	last := len(s.Results) - 1
	if last <= first || bytes.HasSuffix(data, []byte("\n")) || s.Results[last].Line != bytes.Count(data, []byte("\n"))+1 {
		return nil
	}
	for _, v := range s.Results[last].Values {
		known := slices.ContainsFunc(s.Results[first:last], func(r *Result) bool {
			_, ok := r.Value(v.Unit)
			return ok
		})
		if !known {
			line := s.Results[last].Line
			s.Results = s.Results[:last]
			return &benchfmt.SyntaxError{FileName: path, Line: line, Msg: fmt.Sprintf("the file ends within this line, at unit %q", v.Unit)}
		}
	}
	return nil
}
