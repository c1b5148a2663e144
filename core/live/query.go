package live

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/tidemark-go/tidemark/core/timing"
)

// query is what a request asks for.
type query struct {
	json   bool
	n      int
	cursor *cursor
}

func parseQuery(raw string) (query, error) {
	q := query{n: DefaultPartitions}
	values, err := url.ParseQuery(raw)
	if err != nil {
		return q, fmt.Errorf("live: malformed query: %w", err)
	}
	for name, parse := range map[string]func(string) error{
		"format": q.parseFormat, "n": q.parseN, "cursor": q.parseCursor,
	} {
		switch given := values[name]; len(given) {
		case 0:
		case 1:
			if err := parse(given[0]); err != nil {
				return q, err
			}
		default:
			return q, fmt.Errorf("live: parameter %s is given %d times, once is legal", name, len(given))
		}
	}
	return q, nil
}

func (q *query) parseFormat(text string) error {
	if text != "json" && text != "html" {
		return fmt.Errorf("live: format is %q, legal are json and html", text)
	}
	q.json = text == "json"
	return nil
}

func (q *query) parseN(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > MaxPartitions {
		return fmt.Errorf("live: n is %q, legal are 0 to %d", text, MaxPartitions)
	}
	q.n = n
	return nil
}

func (q *query) parseCursor(text string) error {
	if text == "" {
		return nil
	}
	c, err := parseCursor(text)
	if err != nil {
		return fmt.Errorf("live: cursor is %q, legal is what the last answer said: %w", text, err)
	}
	q.cursor = &c
	return nil
}

// cursor is a place in the ledger of one process.
type cursor struct {
	process  timing.ProcessIdentity
	sequence uint64
}

// String returns the form node.boot.term.sequence.
func (c cursor) String() string {
	p := c.process
	return fmt.Sprintf("%d.%s.%d.%d", p.Participant.NodeID, p.Participant.BootIncarnation, p.ProcessTerm, c.sequence)
}

func parseCursor(text string) (c cursor, err error) {
	parts := strings.Split(text, ".")
	if len(parts) != 4 {
		return c, fmt.Errorf("it has %d parts, not 4", len(parts))
	}
	for i, number := range []*uint64{0: &c.process.Participant.NodeID, 2: &c.process.ProcessTerm, 3: &c.sequence} {
		if number == nil {
			continue
		}
		if *number, err = strconv.ParseUint(parts[i], 10, 64); err != nil {
			return c, err
		}
	}
	c.process.Participant.BootIncarnation, err = uuid.Parse(parts[1])
	return c, err
}
