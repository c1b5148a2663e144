package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"

	"github.com/tidemark-go/tidemark/adapters/kafka/internal/console"
	"github.com/tidemark-go/tidemark/adapters/kafka/internal/input"
	"github.com/tidemark-go/tidemark/adapters/kafka/internal/lines"
)

// coverage is what the output files hold of one input.
type coverage struct {
	seen         *lines.Set
	events, dead int64
	repeated     int64
	// other counts lines of other inputs, damaged those that are torn or not
	// of this program.
	other, damaged int64
}

// verify checks the output against the input, without any broker.
func verify(ctx context.Context, o options, out io.Writer) error {
	in, err := input.Load(ctx, o.input)
	if err != nil {
		return err
	}
	c, err := readCoverage(ctx, o, in)
	if err != nil {
		return err
	}
	c.print(out, in.Lines)
	if n := in.Lines - c.seen.Len(); n > 0 {
		return fmt.Errorf("%s of %s missing from the output, line %d the first; run the demo on it until it is finished, or, if its group has committed them into another output, with another -group",
			console.Plural(n, "line"), in.Name, c.seen.FirstMissing())
	}
	if c.damaged > 0 {
		return fmt.Errorf("%s of the output cut short or no line of this program", console.Plural(c.damaged, "line"))
	}
	return nil
}

func (d *demo) coverage(ctx context.Context) (*coverage, error) {
	return readCoverage(ctx, d.opts, d.in)
}

func readCoverage(ctx context.Context, o options, in *input.Input) (*coverage, error) {
	c := &coverage{seen: lines.NewSet(in.Lines)}
	prefix := []byte(lines.OriginPrefix + in.ID + `","line":`)
	if err := c.readFile(ctx, o.out.Events, prefix, &c.events); err != nil {
		return nil, err
	}
	return c, c.readFile(ctx, o.out.Dead, prefix, &c.dead)
}

func (c *coverage) readFile(ctx context.Context, path string, prefix []byte, count *int64) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<20)
	for ctx.Err() == nil {
		// The head of a line is enough; a long one is read past.
		text, err := r.ReadSlice('\n')
		head := text[:min(len(text), 64)]
		whole := bytes.HasSuffix(text, []byte("}\n"))
		if len(text) > 0 {
			head = bytes.Clone(head)
		}
		for errors.Is(err, bufio.ErrBufferFull) {
			text, err = r.ReadSlice('\n')
			whole = bytes.HasSuffix(text, []byte("}\n"))
		}
		if len(head) > 0 {
			c.add(head, prefix, whole, count)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", path, err)
		}
	}
	return ctx.Err()
}

func (c *coverage) add(head, prefix []byte, whole bool, count *int64) {
	rest, ours := bytes.CutPrefix(head, prefix)
	if !ours {
		if bytes.HasPrefix(head, []byte(lines.OriginPrefix)) && whole {
			c.other++
		} else {
			c.damaged++
		}
		return
	}
	digits, _, ok := bytes.Cut(rest, []byte{','})
	line, err := strconv.ParseInt(string(digits), 10, 64)
	if !ok || !whole || err != nil || line < 0 {
		c.damaged++
		return
	}
	*count++
	if !c.seen.Add(line) && line > 0 { // 0 is a record without a line
		c.repeated++
	}
}

func (c *coverage) print(w io.Writer, total int64) {
	fprintf(w, "  of %s, %s in the output: %s as events, %s as dead letters, %s repeated", console.Plural(total, "input line"),
		console.Count(c.seen.Len()), console.Count(c.events), console.Count(c.dead), console.Count(c.repeated))
	if c.other > 0 {
		fprintf(w, "  %s of other inputs", console.Plural(c.other, "line"))
	}
	if c.damaged > 0 {
		fprintf(w, "  %s damaged: cut short, or not of this program", console.Plural(c.damaged, "line"))
	}
}
