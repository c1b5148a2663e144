package lines

import (
	"encoding/base64"
	"strconv"
	"unicode/utf8"
)

// Origin says where a line came from. It begins every line of output, so
// that repeated lines can be told from different ones.
type Origin struct {
	// Source names the input, Line is its line there, from 1; 0 is unknown.
	Source string
	Line   int64
	// Partition and Offset are where the record was read.
	Partition int32
	Offset    int64
}

// Reason says why a line was dead-lettered.
type Reason string

const (
	// Empty is a line without any text.
	Empty Reason = "empty"
	// Oversized is a line above the limit.
	Oversized Reason = "oversized"
	// Unparsable is a line that is no access log.
	Unparsable Reason = "unparsable"
	// Foreign is a record that does not name its line.
	Foreign Reason = "foreign"
)

// AppendEvent appends e as one line of JSON, line feed included.
func AppendEvent(dst []byte, o Origin, e *Event) []byte {
	dst = appendOrigin(dst, o)
	dst = append(dst, `,"time":"`...)
	dst = e.Time.append(dst)
	dst = append(dst, `","client":`...)
	dst = appendString(dst, e.Client)
	dst = append(dst, `,"user":`...)
	dst = appendString(dst, e.User)
	dst = append(dst, `,"method":`...)
	dst = appendString(dst, e.Method)
	dst = append(dst, `,"target":`...)
	dst = appendString(dst, e.Target)
	dst = append(dst, `,"proto":`...)
	dst = appendString(dst, e.Proto)
	dst = append(dst, `,"status":`...)
	dst = strconv.AppendInt(dst, int64(e.Status), 10)
	if e.Bytes >= 0 {
		dst = append(dst, `,"bytes":`...)
		dst = strconv.AppendInt(dst, e.Bytes, 10)
	}
	if e.Referer != nil {
		dst = append(dst, `,"referer":`...)
		dst = appendString(dst, e.Referer)
		dst = append(dst, `,"agent":`...)
		dst = appendString(dst, e.Agent)
	}
	return append(dst, "}\n"...)
}

// AppendDead appends a dead letter as one line of JSON, line feed included.
// The raw line is kept to the byte: as a string when it is UTF-8, in base64
// as raw_base64 when not. A problem, if there is one, becomes the detail.
func AppendDead(dst []byte, o Origin, why Reason, p Problem, raw []byte) []byte {
	dst = appendReason(dst, o, why)
	if p.Bad() {
		dst = append(dst, `,"detail":"`...)
		dst = append(dst, p.Field...)
		dst = append(dst, " at column "...)
		dst = strconv.AppendInt(dst, int64(p.Column), 10)
		dst = append(dst, ": want "...)
		dst = append(dst, p.Want...)
		dst = append(dst, '"')
	}
	dst = appendRaw(dst, "raw", raw)
	return append(dst, "}\n"...)
}

// Spilled describes a line that is too large for a record: its bytes are in
// a file of their own.
type Spilled struct {
	// File is the path, Bytes the length, SHA256 the digest in hex.
	File, SHA256 string
	Bytes        int64
}

// AppendSpilled appends the dead letter of an oversized line: where its bytes
// are, and the first of them to look at.
func AppendSpilled(dst []byte, o Origin, s Spilled, head []byte) []byte {
	dst = appendReason(dst, o, Oversized)
	dst = append(dst, `,"bytes":`...)
	dst = strconv.AppendInt(dst, s.Bytes, 10)
	dst = append(dst, `,"sha256":`...)
	dst = appendString(dst, []byte(s.SHA256))
	dst = appendRaw(dst, "raw_file", []byte(s.File))
	dst = appendRaw(dst, "head", head)
	return append(dst, "}\n"...)
}

// OriginPrefix is how every line of output begins; a last line that is a
// part of one was torn by a crash.
const OriginPrefix = `{"src":"`

func appendOrigin(dst []byte, o Origin) []byte {
	dst = append(dst, `{"src":`...)
	dst = appendString(dst, []byte(o.Source))
	dst = append(dst, `,"line":`...)
	dst = strconv.AppendInt(dst, o.Line, 10)
	dst = append(dst, `,"partition":`...)
	dst = strconv.AppendInt(dst, int64(o.Partition), 10)
	dst = append(dst, `,"offset":`...)
	return strconv.AppendInt(dst, o.Offset, 10)
}

func appendReason(dst []byte, o Origin, why Reason) []byte {
	dst = appendOrigin(dst, o)
	dst = append(dst, `,"reason":"`...)
	dst = append(dst, why...)
	return append(dst, '"')
}

func appendRaw(dst []byte, name string, raw []byte) []byte {
	dst = append(dst, ',', '"')
	dst = append(dst, name...)
	if utf8.Valid(raw) {
		dst = append(dst, `":`...)
		return appendString(dst, raw)
	}
	dst = append(dst, `_base64":"`...)
	dst = base64.StdEncoding.AppendEncode(dst, raw)
	return append(dst, '"')
}

// appendString appends valid UTF-8 as a JSON string.
func appendString(dst, s []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	done := 0
	for i, c := range s {
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[done:i]...)
		done = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\t':
			dst = append(dst, '\\', 't')
		case '\r':
			dst = append(dst, '\\', 'r')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	dst = append(dst, s[done:]...)
	return append(dst, '"')
}
