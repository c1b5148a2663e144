package lines

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

const good = `203.0.113.7 - ada [30/Nov/2026:10:22:29 +0000] "GET /orders/7 HTTP/1.1" 200 512 "https://example.com/" "curl/8.5"`

func TestParseGolden(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{"combined", good,
			`{"src":"in","line":7,"partition":0,"offset":1,"time":"2026-11-30T10:22:29Z","client":"203.0.113.7","user":"ada","method":"GET","target":"/orders/7","proto":"HTTP/1.1","status":200,"bytes":512,"referer":"https://example.com/","agent":"curl/8.5"}`},
		{"common, no size, an offset", `::1 - - [29/Feb/2024:23:59:60 -0730] "HEAD * HTTP/2.0" 304 -`,
			`{"src":"in","line":7,"partition":0,"offset":1,"time":"2024-02-29T23:59:60-07:30","client":"::1","user":"-","method":"HEAD","target":"*","proto":"HTTP/2.0","status":304}`},
		{"carriage return, escapes, other scripts", "gw-1.example.net - - [01/Jan/0001:00:00:00 +0200] \"GET /caf\u00e9?q=\\\"a\\\\b\\\" HTTP/1.1\" 599 0 \"-\" \"\U0001F600 \\x16\"\r",
			`{"src":"in","line":7,"partition":0,"offset":1,"time":"0001-01-01T00:00:00+02:00","client":"gw-1.example.net","user":"-","method":"GET","target":"/café?q=\\\"a\\\\b\\\"","proto":"HTTP/1.1","status":599,"bytes":0,"referer":"-","agent":"😀 \\x16"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var e Event
			if p := Parse([]byte(c.line), &e); p.Bad() {
				t.Fatalf("problem %+v", p)
			}
			got := string(AppendEvent(nil, Origin{Source: "in", Line: 7, Offset: 1}, &e))
			if got != c.want+"\n" {
				t.Errorf("got  %swant %s", got, c.want)
			}
			if !json.Valid([]byte(got)) {
				t.Error("no valid JSON")
			}
		})
	}
}

func TestParseSaysWhereAndWhatWouldBeLegal(t *testing.T) {
	for _, c := range []struct{ line, field string }{
		{"", "client"},
		{"word", "client"},
		{"a,b - - x", "client"},
		{"203.0.113.7  - - x", "ident"},
		{"203.0.113.7 -  - x", "user"},
		{"203.0.113.7 - ", "user"},
		{"203.0.113.7 - - ", "time"},
		{strings.Replace(good, "30/Nov", "31/Nov", 1), "time"},
		{strings.Replace(good, "30/Nov/2026", "29/Feb/2026", 1), "time"},
		{strings.Replace(good, "30/Nov", "00/Nov", 1), "time"},
		{strings.Replace(good, "Nov", "nov", 1), "time"},
		{strings.Replace(good, "10:22", "24:22", 1), "time"},
		{strings.Replace(good, ":29 ", ":61 ", 1), "time"},
		{strings.Replace(good, "+0000", "+2400", 1), "time"},
		{strings.Replace(good, "+0000", "z0000", 1), "time"},
		{strings.Replace(good, "2026", "+026", 1), "time"},
		{strings.Replace(good, `"GET`, `GET`, 1), "request"},
		{strings.Replace(good, `GET /orders/7 HTTP/1.1`, `-`, 1), "request"},
		{strings.Replace(good, `GET`, `get`, 1), "request"},
		{strings.Replace(good, `HTTP/1.1`, `HTTP/1.1 x`, 1), "request"},
		{strings.Replace(good, `HTTP/1.1`, `HTTP/`, 1), "request"},
		{strings.Replace(good, `GET /orders/7`, `GET `, 1), "request"},
		{strings.Replace(good, ` 200`, ` 099`, 1), "status"},
		{strings.Replace(good, ` 200`, ` 600`, 1), "status"},
		{strings.Replace(good, ` 200`, `200`, 1), "status"},
		{strings.Replace(good, ` 512`, ` -1`, 1), "bytes"},
		{strings.Replace(good, ` 512`, ` 1234567890123456789`, 1), "bytes"},
		{strings.Replace(good, ` 512 `, ` `, 1), "bytes"},
		{strings.Replace(good, `"curl/8.5"`, ``, 1), "agent"},
		{strings.Replace(good, `"curl/8.5"`, `"curl\"`, 1), "agent"},
		{strings.Replace(good, ` "https`, ` https`, 1), "referer"},
		{good + " ", "end"},
		{good + "\r\r", "text"},
		{"\x00" + good, "text"},
		{strings.Replace(good, "curl", "c\xffrl", 1), "text"},
		{strings.Replace(good, "curl", "c\x7frl", 1), "text"},
	} {
		var e Event
		p := Parse([]byte(c.line), &e)
		if p.Field != c.field {
			t.Errorf("%q: problem %+v, want one of %q", c.line, p, c.field)
		}
		if p.Want == "" || p.Column < 1 || p.Column > len(c.line)+1 {
			t.Errorf("%q: problem %+v says too little", c.line, p)
		}
	}
	if p := checkText([]byte("caf\u00e9 \xe9")); p.Column != 7 {
		t.Errorf("column %d of the byte that is no UTF-8, want 7", p.Column)
	}
}

func TestStampAgreesWithTheTimePackage(t *testing.T) {
	const layout = "[02/Jan/2006:15:04:05 -0700]"
	random := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		zone := time.FixedZone("", 60*(random.IntN(2*14*60)-14*60))
		at := time.Unix(random.Int64N(4e10)-1e10, 0).In(zone)
		if at.Year() < 1 || at.Year() > 9999 {
			continue
		}
		s, ok := parseStamp([]byte(at.Format(layout)))
		if got := string(s.append(nil)); !ok || got != at.Format(time.RFC3339) {
			t.Fatalf("%s became %s, %v", at.Format(layout), got, ok)
		}
	}
}

func TestDeadLettersKeepTheLineToTheByte(t *testing.T) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	for _, raw := range []string{"", "plain", "tab\t\r\"quote\" \\", "caf\u00e9 \u2028", "\x00\x1f\x7f", "\xff\xfe", string(every), string(every[:128])} {
		text := AppendDead(nil, Origin{Source: "in", Line: 3, Partition: 2, Offset: 9}, Unparsable, Problem{"status", "a number", 12}, []byte(raw))
		var got struct {
			Src, Reason, Detail string
			Line, Offset        int64
			Partition           int32
			Raw                 *string
			Base64              *string `json:"raw_base64"`
		}
		if err := json.Unmarshal(text, &got); err != nil || !bytes.HasSuffix(text, []byte("}\n")) {
			t.Fatalf("%q: %v in %s", raw, err, text)
		}
		var back string
		if got.Raw != nil {
			back = *got.Raw
		} else if got.Base64 != nil {
			b, err := base64.StdEncoding.DecodeString(*got.Base64)
			if err != nil {
				t.Fatal(err)
			}
			back = string(b)
		}
		if back != raw || got.Line != 3 || got.Offset != 9 || got.Partition != 2 || got.Src != "in" || got.Reason != "unparsable" || got.Detail != "status at column 12: want a number" {
			t.Errorf("%q came back as %q in %s", raw, back, text)
		}
	}
}

func TestAppendSpilledSaysWhereTheBytesAre(t *testing.T) {
	got := string(AppendSpilled(nil, Origin{Source: "in", Line: 3}, Spilled{File: "/tmp/a \"b\"", SHA256: "beef", Bytes: 70000}, []byte("AAA")))
	want := `{"src":"in","line":3,"partition":0,"offset":0,"reason":"oversized","bytes":70000,"sha256":"beef","raw_file":"/tmp/a \"b\"","head":"AAA"}` + "\n"
	if got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}

func TestEveryLineOfOutputBeginsWithThePrefix(t *testing.T) {
	var e Event
	for _, line := range [][]byte{
		AppendEvent(nil, Origin{}, &e), AppendDead(nil, Origin{}, Empty, Problem{}, nil), AppendSpilled(nil, Origin{}, Spilled{}, nil),
	} {
		if !bytes.HasPrefix(line, []byte(OriginPrefix)) {
			t.Errorf("%s does not", line)
		}
	}
}

func TestParsingAndEncodingAllocateNothing(t *testing.T) {
	dst := make([]byte, 0, 4096)
	line, bad := []byte(good), []byte("no access log \xff at all")
	var e Event
	if n := testing.AllocsPerRun(1000, func() {
		if Parse(line, &e).Bad() {
			t.Fatal("bad")
		}
		dst = AppendEvent(dst[:0], Origin{Source: "in", Line: 1}, &e)
		p := Parse(bad, &e)
		dst = AppendDead(dst[:0], Origin{Source: "in", Line: 1}, Unparsable, p, bad)
	}); n != 0 {
		t.Errorf("%v allocations a line, want none", n)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{good, "", "\r", good + "\r", `a - - [01/Jan/2000:00:00:00 +0000] "A b HTTP/1" 200 -`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var e Event
		before := bytes.Clone(line)
		p := Parse(line, &e)
		if !bytes.Equal(before, line) {
			t.Fatal("the line was changed")
		}
		var out []byte
		if p.Bad() {
			if p.Column < 1 || p.Column > len(line)+1 {
				t.Fatalf("column %d of a line of %d bytes", p.Column, len(line))
			}
			out = AppendDead(nil, Origin{Source: "in"}, Unparsable, p, line)
		} else {
			out = AppendEvent(nil, Origin{Source: "in"}, &e)
		}
		if !json.Valid(out) || bytes.Count(out, []byte{'\n'}) != 1 {
			t.Fatalf("no line of JSON: %q", out)
		}
	})
}
