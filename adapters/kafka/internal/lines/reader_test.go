package lines

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

// split reads everything, long lines in full.
func split(t *testing.T, src io.Reader, max int) (got []string, long []bool) {
	t.Helper()
	r, err := NewReader(src, max)
	if err != nil {
		t.Fatal(err)
	}
	for r.Next() {
		line := r.Line()
		if line.Num != int64(len(got)+1) {
			t.Fatalf("line %d is numbered %d", len(got)+1, line.Num)
		}
		text := string(line.Raw)
		if line.Long {
			if len(line.Raw) != max {
				t.Fatalf("head of a long line has %d bytes, want %d", len(line.Raw), max)
			}
			var all bytes.Buffer
			n, err := r.CopyLong(&all)
			if err != nil || n != int64(all.Len()) {
				t.Fatalf("CopyLong = %d, %v; wrote %d", n, err, all.Len())
			}
			text = all.String()
		}
		got = append(got, text)
		long = append(long, line.Long)
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return got, long
}

func TestReaderSplitsLikeItsRules(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"empty text", "", nil},
		{"one line feed", "\n", []string{""}},
		{"two line feeds", "\n\n", []string{"", ""}},
		{"no line feed at the end", "a\nb", []string{"a", "b"}},
		{"carriage returns stay", "a\r\nb\r\n\r\n", []string{"a\r", "b\r", "\r"}},
		{"lone carriage return at the end", "a\n\r", []string{"a", "\r"}},
		{"bytes of any kind", "\x00\xff\n\x00", []string{"\x00\xff", "\x00"}},
		{"exactly the limit", "12345\n12345", []string{"12345", "12345"}},
		{"above the limit", "123456\nx\n1234567", []string{"123456", "x", "1234567"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, long := split(t, strings.NewReader(c.text), 5)
			if strings.Join(got, "|") != strings.Join(c.want, "|") || len(got) != len(c.want) {
				t.Fatalf("got %q, want %q", got, c.want)
			}
			for i := range got {
				if long[i] != (len(got[i]) > 5) {
					t.Errorf("line %q: long is %v", got[i], long[i])
				}
			}
		})
	}
}

func TestReaderAgreesWithSplitOnRandomTextInAnyPieces(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		text := make([]byte, random.IntN(3000))
		for i := range text {
			text[i] = "ab\r\n"[random.IntN(4)]
			if random.IntN(3) > 0 {
				text[i] = 'c'
			}
		}
		want := strings.Split(string(text), "\n")
		if want[len(want)-1] == "" {
			want = want[:len(want)-1]
		}
		limit := 1 + random.IntN(40)
		for _, src := range []io.Reader{
			bytes.NewReader(text), iotest.OneByteReader(bytes.NewReader(text)),
			iotest.HalfReader(bytes.NewReader(text)), iotest.DataErrReader(bytes.NewReader(text)),
		} {
			got, _ := split(t, src, limit)
			if strings.Join(got, "\n") != strings.Join(want, "\n") || len(got) != len(want) {
				t.Fatalf("limit %d: got %q, want %q", limit, got, want)
			}
		}
	}
}

func TestReaderSkipsALongLineThatNobodyCopies(t *testing.T) {
	text := strings.Repeat("x", 3*blockBytes) + "\nshort\n" + strings.Repeat("y", 2*blockBytes)
	r, err := NewReader(strings.NewReader(text), 10)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for r.Next() {
		got = append(got, string(r.Line().Raw))
	}
	if want := []string{"xxxxxxxxxx", "short", "yyyyyyyyyy"}; strings.Join(got, "|") != strings.Join(want, "|") {
		t.Fatalf("got %q, want %q", got, want)
	}
}

// Lines must stay what they are while later ones are read: the producer keeps
// them until the broker has them.
func TestReaderNeverChangesALineItReturned(t *testing.T) {
	var text bytes.Buffer
	for i := range 60_000 {
		text.WriteString(strings.Repeat(string(rune('a'+i%26)), i%37))
		text.WriteByte('\n')
	}
	r, err := NewReader(bytes.NewReader(text.Bytes()), 100)
	if err != nil {
		t.Fatal(err)
	}
	var kept [][]byte
	for r.Next() {
		kept = append(kept, r.Line().Raw)
	}
	if got := append(bytes.Join(kept, []byte{'\n'}), '\n'); !bytes.Equal(got, text.Bytes()) {
		t.Fatal("lines changed after they were returned")
	}
	if cap(kept[5]) != len(kept[5]) {
		t.Error("a line's capacity reaches into the next line")
	}
}

func TestReaderReportsErrorsOfItsSource(t *testing.T) {
	broken := errors.New("disk on fire")
	for name, src := range map[string]io.Reader{
		"between lines":        io.MultiReader(strings.NewReader("a\n"), iotest.ErrReader(broken)),
		"inside a line":        io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)),
		"inside of a long one": io.MultiReader(strings.NewReader("a\nbbbbbbbbbbb"), iotest.ErrReader(broken)),
	} {
		t.Run(name, func(t *testing.T) {
			r, err := NewReader(src, 4)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for r.Next() {
				n++
			}
			if !errors.Is(r.Err(), broken) || !strings.Contains(r.Err().Error(), "line ") {
				t.Fatalf("error %v after %d lines, want the source's with its place", r.Err(), n)
			}
			if r.Next() {
				t.Error("goes on after an error")
			}
		})
	}
	if _, err := NewReader(nil, 0); !errors.Is(err, ErrLineLimit) {
		t.Errorf("limit 0: %v, want ErrLineLimit", err)
	}
}
