package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// flagSet is the flags of a verb with its help text.
type flagSet struct {
	*flag.FlagSet
	out  io.Writer
	text string
}

// newFlags returns the flags of a verb. Text is its help: it begins with the
// arguments, and teaches with examples. The flags are printed after it.
func newFlags(e env, name, text string) *flagSet {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	return &flagSet{fs, e.stdout, text}
}

// parse parses args and returns what is not a flag. Flags may stand before,
// between and after the files; all that follows "--" is a file. An error names
// the flags that are legal, and -help prints the help and is flag.ErrHelp.
func (f *flagSet) parse(args []string) ([]string, error) {
	var rest, files []string
	if i := slices.Index(args, "--"); i >= 0 {
		args, rest = args[:i], args[i+1:]
	}
	for {
		err := f.FlagSet.Parse(args)
		switch {
		case errors.Is(err, flag.ErrHelp):
			f.help()
			return nil, err
		case err != nil:
			return nil, fail(exitUsage, "%s: %w; the flags are %s, and %s %s -help explains them",
				f.Name(), err, strings.Join(f.names(), ", "), program, f.Name())
		}
		if f.NArg() == 0 {
			return append(files, rest...), nil
		}
		files = append(files, f.Arg(0))
		args = f.Args()[1:]
	}
}

func (f *flagSet) help() {
	fmt.Fprintf(f.out, "Usage: %s %s %s\n\nFlags:\n", program, f.Name(), strings.TrimSpace(f.text))
	f.SetOutput(f.out)
	f.PrintDefaults()
	f.SetOutput(io.Discard)
}

func (f *flagSet) names() []string {
	var names []string
	f.VisitAll(func(fl *flag.Flag) { names = append(names, "-"+fl.Name) })
	return names
}
