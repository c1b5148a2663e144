package parse

import (
	"bytes"
	"regexp"
	"unicode/utf8"

	"golang.org/x/perf/benchfmt"
)

// kind is a form of file that is taken for a benchmark file now and then.
type kind struct {
	magic    string
	what, do string
}

const (
	utf16Do = `PowerShell's > writes it; use "go test -bench . | Out-File -Encoding utf8 FILE", or iconv -f UTF-16 -t UTF-8`
	gzipDo  = "unpack it: gzip -dc FILE | benchstat-report VERB -"
)

var kinds = []kind{
	{"\xff\xfe\x00\x00", "is UTF-32 text", "iconv -f UTF-32 -t UTF-8 turns it into what Go writes"},
	{"\xff\xfe", "is UTF-16 text", utf16Do},
	{"\xfe\xff", "is UTF-16 text", utf16Do},
	{"\x1f\x8b", "is gzip data", gzipDo},
	{"PK\x03\x04", "is a zip file", "unpack it and name the text file in it"},
	{"\x28\xb5\x2f\xfd", "is zstd data", "unpack it: zstd -dc FILE | benchstat-report VERB -"},
	{"\xfd7zXZ", "is xz data", "unpack it: xz -dc FILE | benchstat-report VERB -"},
	{"\x7fELF", "is a program", "run it with -test.bench . and give me what it prints"},
	{`{"Time":`, "is the output of go test -json", "run it without -json, or take the Output fields"},
	{`{"Action":`, "is the output of go test -json", "run it without -json, or take the Output fields"},
}

// sniff returns an error for data that is no benchmark text.
func sniff(path string, data []byte) error {
	if len(data) == 0 {
		return &InputError{Path: path, What: "is empty", Do: "the command that should have written it failed, or still runs"}
	}
	for _, k := range kinds {
		if bytes.HasPrefix(data, []byte(k.magic)) {
			return &InputError{Path: path, What: k.what, Do: k.do}
		}
	}
	head := data[:min(len(data), 512)]
	zeros := [2]int{}
	for i, c := range head {
		if c == 0 {
			zeros[i%2]++
		}
	}
	if n := len(head) / 2; n >= 4 && (zeros[0] > n*3/4 && zeros[1] == 0 || zeros[1] > n*3/4 && zeros[0] == 0) {
		return &InputError{Path: path, What: "is UTF-16 text without a byte order mark", Do: utf16Do}
	}
	if zeros[0]+zeros[1] > len(head)/10 || unprintable(head) > len(head)/10 {
		return &InputError{Path: path, What: "is binary data", Do: `name a file that "go test -bench" wrote`}
	}
	return nil
}

// unprintable counts the bytes that no text has.
func unprintable(data []byte) (n int) {
	for _, c := range data {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != 0x1b {
			n++
		}
	}
	return n
}

// noResults is the error of a text without results.
func noResults(path string, data []byte) error {
	do := `was it "go test -bench ." that wrote it? Without -bench there are no results`
	if bytes.Contains(data, []byte("\ntesting: warning: no tests to run")) || bytes.Contains(data, []byte("[no test files]")) {
		do = "go test found nothing to run: check the package and the pattern of -bench"
	}
	return &InputError{Path: path, What: "holds no benchmark results", Do: do}
}

var (
	// failure is what the testing package and the runtime print.
	failure = regexp.MustCompile(`^\s*(FAIL(\s|$)|--- FAIL: |panic: |fatal error: )`)
	// inLine is a failure after the benchmark's name.
	inLine = regexp.MustCompile(`^Benchmark\S*\s+--- FAIL: `)
	// notice is a skip or a log after the benchmark's name.
	notice = regexp.MustCompile(`^Benchmark\S*\s+--- (SKIP|BENCH): `)
	// buried is a result with something before it.
	buried = regexp.MustCompile(`^[^#].*?Benchmark[A-Z_]\S*\s+\d+\s+[0-9][0-9.eE+-]*\s+[A-Za-z]\S*|^\s+Benchmark[A-Z_]\S*\s+\d+\s+[0-9][0-9.eE+-]*\s+[A-Za-z]\S*`)
)

// lines is what is to be said about the lines of an input.
type lines struct {
	failures []Failure
	syntax   []*benchfmt.SyntaxError
	commands []string
	// explained are lines about which all is said, by their number.
	explained map[int]bool
}

func scanLines(path string, data []byte) lines {
	look := lines{explained: map[int]bool{}}
	n := 0
	for raw := range bytes.Lines(data) {
		n++
		line := bytes.TrimRight(raw, "\r\n")
		result := bytes.HasPrefix(line, []byte("Benchmark"))
		switch {
		case failure.Match(line), result && inLine.Match(line):
			look.failures = append(look.failures, Failure{path, n, string(bytes.TrimSpace(line))})
			look.explained[n] = true
		case result && notice.Match(line):
			look.explained[n] = true
		case result && !clean(line):
			look.wrong(path, n, "bytes that are no text in a result")
		case !result && buried.Match(line):
			look.wrong(path, n, "a result that does not begin its line: output of the program stands before it")
		case n == 1 && bytes.HasPrefix(line, []byte(CommandMark)):
			look.commands = append(look.commands, string(line[len(CommandMark):]))
		}
	}
	return look
}

func (l *lines) wrong(path string, n int, msg string) {
	l.syntax = append(l.syntax, &benchfmt.SyntaxError{FileName: path, Line: n, Msg: msg})
	l.explained[n] = true
}

// clean says whether a line is text as the testing package prints it.
func clean(line []byte) bool {
	if !utf8.Valid(line) {
		return false
	}
	return !bytes.ContainsFunc(line, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f || r == utf8.RuneError })
}
