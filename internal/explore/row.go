package explore

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Row is one line of a result file: what a run of a configuration came to.
type Row struct {
	Name, Title, Bound string
	Level              Level
	Executions         int
	Time               time.Duration
}

// levels are the names of the levels in result files.
var levels = [...]string{Short: "short", Usual: "usual", Full: "full"}

func (l Level) String() string { return levels[l] }

// keep adds a row to the file that the environment names, if it names one.
func keep(c Config, result Result) error {
	file := os.Getenv(ResultsVariable)
	if file == "" {
		return nil
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("explore: cannot keep the result: %w", err)
	}
	row := Row{c.Name, c.Title, c.Search.String(), c.Level, result.Executions, result.Time.Round(time.Millisecond)}
	_, err = f.WriteString(row.String() + "\n")
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("explore: cannot keep the result: %w", err)
	}
	return nil
}

// String returns the row as a line of a result file: fields between tabs.
func (r Row) String() string {
	return strings.Join([]string{r.Level.String(), r.Name, r.Title, r.Bound, strconv.Itoa(r.Executions), r.Time.String()}, "\t")
}

// ParseRow reads what Row.String writes.
func ParseRow(line string) (Row, error) {
	f := strings.Split(line, "\t")
	if len(f) != 6 {
		return Row{}, fmt.Errorf("explore: line %q of a result file has %d fields, 6 are legal", line, len(f))
	}
	r := Row{Name: f[1], Title: f[2], Bound: f[3], Level: -1}
	for l, text := range levels {
		if text == f[0] {
			r.Level = Level(l)
		}
	}
	if r.Level < 0 {
		return Row{}, fmt.Errorf("explore: line %q of a result file has the level %q, legal are %v", line, f[0], levels)
	}
	var err error
	if r.Executions, err = strconv.Atoi(f[4]); err != nil {
		return Row{}, fmt.Errorf("explore: line %q of a result file: %w", line, err)
	}
	if r.Time, err = time.ParseDuration(f[5]); err != nil {
		return Row{}, fmt.Errorf("explore: line %q of a result file: %w", line, err)
	}
	return r, nil
}
