package sample

import (
	"bytes"
	"testing"

	"github.com/tidemark-go/tidemark/adapters/kafka/internal/lines"
)

func TestBundledLogIsWhatItsGeneratorWrites(t *testing.T) {
	var want bytes.Buffer
	if err := Write(&want, Lines, Seed); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(Log(), want.Bytes()) {
		t.Fatal("testdata/access.log differs from the generator's output; run go generate here")
	}
}

func TestBundledLogHasEveryKindOfLine(t *testing.T) {
	const limit = 64 << 10
	r, err := lines.NewReader(bytes.NewReader(Log()), limit)
	if err != nil {
		t.Fatal(err)
	}
	var good, empty, long, bad int
	for r.Next() {
		var e lines.Event
		switch line := r.Line(); {
		case line.Long:
			long++
		case len(line.Raw) == 0:
			empty++
		case lines.Parse(line.Raw, &e).Bad():
			bad++
		default:
			good++
		}
	}
	if good < Lines*9/10 || empty == 0 || long == 0 || bad == 0 || good+empty+long+bad != Lines {
		t.Errorf("%d good, %d empty, %d oversized, %d unparsable of %d lines; want most good and some of each", good, empty, long, bad, Lines)
	}
}
