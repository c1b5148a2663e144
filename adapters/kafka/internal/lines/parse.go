package lines

import (
	"bytes"
	"unicode/utf8"
)

// Event is one request out of an access log. The slices point into the parsed
// line; text is kept as it was logged, escapes of the log included.
type Event struct {
	Client, User          []byte
	Time                  Stamp
	Method, Target, Proto []byte
	Status                int
	// Bytes is the size of the answer, -1 when it was logged as "-".
	Bytes int64
	// Referer and Agent are nil in the common format, which lacks them.
	Referer, Agent []byte
}

// Problem says why a line is no event. The zero Problem is none.
type Problem struct {
	// Field is where parsing ended, Want what would have been legal there.
	Field, Want string
	// Column is the byte at which it ended, from 1.
	Column int
}

// Bad says whether there is a problem.
func (p Problem) Bad() bool { return p.Field != "" }

// Parse reads a line of the common log format, or of the combined one, which
// adds referer and agent:
//
//	203.0.113.7 - ada [30/Nov/2026:10:22:29 +0000] "GET /orders/7 HTTP/1.1" 200 512 "-" "curl/8.5"
//
// A carriage return at the end is ignored. The line has to be UTF-8 without
// control characters. Parse allocates nothing, also for a bad line.
func Parse(line []byte, e *Event) Problem {
	line = bytes.TrimSuffix(line, []byte{'\r'})
	if p := checkText(line); p.Bad() {
		return p
	}
	*e = Event{}
	c := cursor{line: line}
	if e.Client = c.word(); !isHost(e.Client) {
		return c.bad("client", "an address or a host name")
	}
	if ident := c.word(); len(ident) == 0 {
		return c.bad("ident", "a name or -")
	}
	if e.User = c.word(); len(e.User) == 0 {
		return c.bad("user", "a name or -")
	}
	var ok bool
	if e.Time, ok = parseStamp(c.rest()); !ok {
		return c.bad("time", "[02/Jan/2006:15:04:05 -0700]")
	}
	c.at += stampBytes
	if p := parseRequest(&c, e); p.Bad() {
		return p
	}
	return parseAnswer(&c, e)
}

func parseRequest(c *cursor, e *Event) Problem {
	if !c.skip(` "`) {
		return c.bad("request", "a space and a quote")
	}
	start := c.at
	request, ok := c.quoted()
	if !ok {
		return c.bad("request", "a closing quote")
	}
	method, rest, _ := bytes.Cut(request, []byte{' '})
	target, proto, _ := bytes.Cut(rest, []byte{' '})
	if !isMethod(method) || len(target) == 0 || !isProto(proto) {
		c.at = start
		return c.bad("request", "METHOD target HTTP/version")
	}
	e.Method, e.Target, e.Proto = method, target, proto
	return Problem{}
}

func parseAnswer(c *cursor, e *Event) Problem {
	if !c.skip(" ") {
		return c.bad("status", "a space")
	}
	status, ok := number(c.peek(), 3)
	if !ok || status < 100 || status > 599 {
		return c.bad("status", "a number from 100 to 599")
	}
	e.Status = int(status)
	c.word()
	size := c.peek()
	if e.Bytes, ok = number(size, 18); !ok {
		if e.Bytes = -1; string(size) != "-" {
			return c.bad("bytes", "a number of at most 18 digits or -")
		}
	}
	c.at += len(size)
	if c.at == len(c.line) {
		return Problem{}
	}
	if !c.skip(` "`) {
		return c.bad("referer", "a space and a quote, or the end")
	}
	if e.Referer, ok = c.quoted(); !ok {
		return c.bad("referer", "a closing quote")
	}
	if !c.skip(` "`) {
		return c.bad("agent", "a space and a quote")
	}
	if e.Agent, ok = c.quoted(); !ok {
		return c.bad("agent", "a closing quote")
	}
	if c.at != len(c.line) {
		return c.bad("end", "nothing after the agent")
	}
	return Problem{}
}

// cursor walks over a line.
type cursor struct {
	line []byte
	at   int
}

func (c *cursor) rest() []byte { return c.line[c.at:] }

func (c *cursor) bad(field, want string) Problem {
	return Problem{Field: field, Want: want, Column: c.at + 1}
}

// peek returns what is left up to the next space or the end.
func (c *cursor) peek() []byte {
	rest := c.rest()
	if i := bytes.IndexByte(rest, ' '); i >= 0 {
		return rest[:i]
	}
	return rest
}

// word takes a word and the one space behind it. Without that space it takes
// nothing and returns nil.
func (c *cursor) word() []byte {
	w := c.peek()
	if c.at+len(w) == len(c.line) {
		return nil
	}
	c.at += len(w) + 1
	return w
}

func (c *cursor) skip(s string) bool {
	if rest := c.rest(); len(rest) < len(s) || string(rest[:len(s)]) != s {
		return false
	}
	c.at += len(s)
	return true
}

// quoted takes text up to a quote that no backslash escapes, and the quote.
func (c *cursor) quoted() ([]byte, bool) {
	rest := c.rest()
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			i++
		case '"':
			c.at += i + 1
			return rest[:i:i], true
		}
	}
	return nil, false
}

func checkText(line []byte) Problem {
	for i, b := range line {
		if b < 0x20 || b == 0x7f {
			return Problem{Field: "text", Want: "no control characters", Column: i + 1}
		}
	}
	if utf8.Valid(line) {
		return Problem{}
	}
	at := 0
	for at < len(line) {
		r, n := utf8.DecodeRune(line[at:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		at += n
	}
	return Problem{Field: "text", Want: "UTF-8", Column: at + 1}
}

func isHost(b []byte) bool {
	for _, c := range b {
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		case c == '.', c == ':', c == '-', c == '_':
		default:
			return false
		}
	}
	return len(b) > 0
}

func isMethod(b []byte) bool {
	for _, c := range b {
		if c < 'A' || c > 'Z' {
			return false
		}
	}
	return len(b) > 0
}

func isProto(b []byte) bool {
	return len(b) > len("HTTP/") && string(b[:len("HTTP/")]) == "HTTP/" && bytes.IndexByte(b, ' ') < 0
}

// number reads decimal digits only, at most so many.
func number(b []byte, digits int) (int64, bool) {
	if len(b) == 0 || len(b) > digits {
		return 0, false
	}
	var n int64
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}
