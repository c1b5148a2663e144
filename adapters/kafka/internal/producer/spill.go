package producer

import (
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tidemark-go/tidemark/adapters/kafka/internal/lines"
)

// Headers of a record whose line was spilled.
const (
	headerFile   = "spilled-file"
	headerSHA256 = "spilled-sha256"
	headerBytes  = "spilled-bytes"
	// headBytes of the line stay in the record, to look at.
	headBytes = 256
)

// MarkSpilled makes r stand for a line whose bytes are in a file.
func MarkSpilled(r *kgo.Record, raw []byte, s lines.Spilled) {
	r.Value = raw[:min(len(raw), headBytes)]
	r.Headers = []kgo.RecordHeader{
		{Key: headerFile, Value: []byte(s.File)},
		{Key: headerSHA256, Value: []byte(s.SHA256)},
		{Key: headerBytes, Value: strconv.AppendInt(nil, s.Bytes, 10)},
	}
}

// SpilledOf returns what MarkSpilled wrote, if r has it.
func SpilledOf(r *kgo.Record) (s lines.Spilled, ok bool) {
	for _, h := range r.Headers {
		switch h.Key {
		case headerFile:
			s.File, ok = string(h.Value), true
		case headerSHA256:
			s.SHA256 = string(h.Value)
		case headerBytes:
			s.Bytes, _ = strconv.ParseInt(string(h.Value), 10, 64)
		}
	}
	return s, ok
}

// LineOf returns the number of the line that r holds, counted from 1.
func LineOf(r *kgo.Record) (int64, bool) {
	line, ok := int64(0), len(r.Key) > 0 && len(r.Key) < 19
	for _, c := range r.Key {
		ok = ok && c >= '0' && c <= '9'
		line = line*10 + int64(c-'0')
	}
	return line, ok && line > 0
}
