// Package sample holds the access log that the demo reads when it is given no
// other input, and makes longer ones of the same kind for tests.
package sample

import (
	"bufio"
	_ "embed"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

//go:generate go run ./gen testdata/access.log

// Lines and Seed make the bundled log.
const (
	Lines = 4000
	Seed  = 1
)

//go:embed testdata/access.log
var log []byte

// Name is what the bundled log is called in messages.
const Name = "bundled sample"

// Log returns the bundled log. It must not be changed.
func Log() []byte { return log }

// One line in oversizedEvery is longer than 64 KiB, one in badEvery is no
// access log.
const (
	badEvery       = 97
	oversizedEvery = 3500
	oversizedBytes = 70_000
)

var (
	clients = []string{"203.0.113.7", "198.51.100.23", "192.0.2.144", "2001:db8::8a2e:370", "203.0.113.250", "gw-4.example.net"}
	users   = []string{"-", "-", "-", "-", "ada", "grace", "edsger", "barbara"}
	methods = []string{"GET", "GET", "GET", "GET", "GET", "POST", "PUT", "DELETE", "HEAD"}
	paths   = []string{"/", "/health", "/api/orders/", "/api/users/", "/static/app.js?v=", "/search?q=tide&page=", "/img/", "/api/carts/"}
	refs    = []string{"-", "-", "https://example.com/", "https://example.com/search?q=water+mark", "https://example.org/caf\u00e9"}
	agents  = []string{
		"curl/8.5.0", "Go-http-client/2.0", "kube-probe/1.31",
		"Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
		`Mozilla/5.0 (compatible; \"examplebot\"/2.1)`,
	}
	statuses = []int{200, 200, 200, 200, 200, 200, 201, 204, 301, 304, 400, 401, 403, 404, 404, 429, 500, 502, 503}
	bad      = []string{
		"",
		"panic: runtime error: index out of range [7] with length 7",
		"\tat com.example.Orders.load(Orders.java:118)",
		`203.0.113.7 - - [31/Feb/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 12 "-" "curl/8.5.0"`,
		`203.0.113.7 - - [30/Nov/2026:10:00:00 +0000] "GET /half/a/li`,
		`192.0.2.144 - - [30/Nov/2026:10:00:00 +0000] "-" 408 0 "-" "-"`,
		"198.51.100.23 - - [30/Nov/2026:10:00:00 +0000] \"GET /caf\xe9 HTTP/1.1\" 200 77 \"-\" \"-\"",
		"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03",
		`{"level":"info","msg":"wrong log, but valid JSON"}`,
	}
)

// Write writes an access log of so many lines, the same for the same seed. A
// few of them are empty, oversized or no access log at all.
func Write(w io.Writer, lines int, seed uint64) error {
	out := bufio.NewWriterSize(w, 1<<20)
	random := rand.New(rand.NewPCG(seed, seed))
	at := time.Date(2026, time.November, 30, 6, 0, 0, 0, time.UTC)
	var line []byte
	for n := range lines {
		at = at.Add(time.Duration(random.IntN(900)) * time.Millisecond)
		switch {
		case n%oversizedEvery == oversizedEvery/2:
			line = appendRequest(line[:0], at, random, strings.Repeat("A", oversizedBytes))
		case n%badEvery == badEvery-1:
			line = append(line[:0], bad[n/badEvery%len(bad)]...)
		default:
			line = appendRequest(line[:0], at, random, pick(random, agents))
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return out.Flush()
}

func appendRequest(dst []byte, at time.Time, random *rand.Rand, agent string) []byte {
	dst = append(dst, pick(random, clients)...)
	dst = append(dst, " - "...)
	dst = append(dst, pick(random, users)...)
	dst = at.AppendFormat(dst, ` [02/Jan/2006:15:04:05 -0700] "`)
	dst = append(dst, pick(random, methods)...)
	dst = append(dst, ' ')
	dst = append(dst, pick(random, paths)...)
	dst = strconv.AppendInt(dst, int64(random.IntN(5000)), 10)
	dst = append(dst, ` HTTP/1.1" `...)
	dst = strconv.AppendInt(dst, int64(pick(random, statuses)), 10)
	dst = append(dst, ' ')
	dst = strconv.AppendInt(dst, int64(random.IntN(48_000)), 10)
	dst = append(dst, ` "`...)
	dst = append(dst, pick(random, refs)...)
	dst = append(dst, `" "`...)
	dst = append(dst, agent...)
	return append(dst, '"')
}

func pick[T any](random *rand.Rand, from []T) T { return from[random.IntN(len(from))] }
