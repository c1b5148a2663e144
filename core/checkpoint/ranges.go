package checkpoint

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/tidemark-go/tidemark/mpsc"
)

// OffsetRange is the offsets from From up to, and without, To.
type OffsetRange struct {
	From, To int64 // 0 ≤ From < To
}

// StartAt says from which offset on p is read under its current admission: the
// committed one, as a rule. It is for DeliveredRanges, which otherwise cannot
// know whether the first batch of the admission repeats the position before it
// (rule 4) and then leaves out more than it must. It reports false, and does
// nothing, if p is not admitted or offset is negative.
func (c *Checkpointer) StartAt(p PartitionID, offset int64) bool {
	c.lock()
	defer c.mu.Unlock()
	l := c.shardOf(p).find(p)
	if l == nil || offset < 0 {
		return false
	}
	l.start = offset
	return true
}

// DeliveredRanges appends to dst the offsets of p that are delivered although
// its watermark cannot pass them: what lies in delivered batches behind the
// head, as of the last Drain, in ascending order, merged where they touch. It
// appends the lowest most ranges, at most that many, and reports whether there
// are more; most < 1 appends none. A partition that is not admitted has none.
//
// A batch covers what lies above the last offset of the one before it, up to its
// own. A batch that repeats the last offset covers nothing, but as long as it
// is not delivered the batch behind it does not count as delivered up to
// anything either, because the position that follows may be in both: see rule 4
// of the source's contract.
//
// Formatted with FormatRanges and kept beside the committed offset, the ranges
// let a restart skip what was delivered already: see Delivered. Skipping is only
// ever an optimisation; leaving ranges out repeats work and loses nothing.
//
// Its cost grows with the pending batches of p; delivered ones whose memory was
// folded cost nothing.
func (c *Checkpointer) DeliveredRanges(p PartitionID, dst []OffsetRange, most int) (ranges []OffsetRange, more bool) {
	c.lock()
	defer c.mu.Unlock()
	l := c.shardOf(p).find(p)
	if l == nil {
		return dst, false
	}
	w := rangeWalk{ranges: dst, start: len(dst), most: max(most, 0), last: l.start - 1}
	if l.watermark > 0 {
		w.last = l.watermark - 1
	} else if l.start < 0 {
		w.last = unknownOffset
	}
	l.q.Walk(w.step)
	return w.ranges, w.more
}

// unknownOffset stands for the last offset before the first batch.
const unknownOffset = -2

// rangeWalk goes over the batches of a lane.
type rangeWalk struct {
	ranges []OffsetRange
	start  int
	most   int
	more   bool
	last   int64 // the last offset of the batch before
	behind bool  // the head has been passed
	// torn: a batch that repeats last, and so may hold a part of the position
	// behind it, is not delivered.
	torn bool
}

func (w *rangeWalk) step(s mpsc.Stretch[int64]) bool {
	if s.State != mpsc.CellGood {
		w.behind = true
		w.torn = s.First == w.last || w.last == unknownOffset
		w.last = s.First
		return true
	}
	if w.behind {
		from := w.last
		if w.torn {
			// Not up to the first offset above last, but what follows it.
			if from = s.First; from == w.last {
				from = s.Turn
			}
		}
		if s.Last > from && !w.add(OffsetRange{from + 1, s.Last + 1}) {
			return false
		}
	}
	if s.Last > w.last {
		w.torn = false
	}
	w.last = s.Last
	return true
}

func (w *rangeWalk) add(r OffsetRange) bool {
	if n := len(w.ranges); n > w.start && w.ranges[n-1].To == r.From {
		w.ranges[n-1].To = r.To
		return true
	}
	if len(w.ranges)-w.start == w.most {
		w.more = true
		return false
	}
	w.ranges = append(w.ranges, r)
	return true
}

// Formatted ranges are ASCII: rangesPrefix, which tells them from what others
// keep in the same place and names the version, then, in the alphabet of
// base64 for URLs and without padding, four bytes of xxhash of what follows
// and for each range two uvarints: its distance from the end of the one before
// (from 0 for the first) and its length.
const rangesPrefix = "tidemark1:"

// RangesLimit is what FormatRanges uses for a limit of 0: the largest metadata
// of a commit that Kafka brokers accept unless they are told otherwise.
const RangesLimit = 4096

// ErrRanges is what FormatRanges returns for ranges that are not in order, and
// ParseRanges and RestoreDelivered for a text that FormatRanges did not make,
// wrapped in a text that says why.
var ErrRanges = errors.New("checkpoint: invalid delivered ranges")

var rangesEncoding = base64.RawURLEncoding.Strict()

// FormatRanges returns a text of at most limit bytes that holds as many of the
// lowest ranges as fit, and how many that are. A limit of 0 means RangesLimit.
// No ranges, or a limit that has no room for one, make the empty text. The
// ranges must be as DeliveredRanges returns them: ascending and not touching;
// else the error is ErrRanges.
func FormatRanges(ranges []OffsetRange, limit int) (text string, kept int, err error) {
	if limit == 0 {
		limit = RangesLimit
	}
	room := 0
	if limit > len(rangesPrefix) {
		room = rangesEncoding.DecodedLen(limit - len(rangesPrefix))
	}
	data := make([]byte, 4, max(4, min(room, 4+len(ranges)*2*binary.MaxVarintLen64)))
	full := false
	end := int64(0)
	for i, r := range ranges {
		if r.From < end || r.From == end && i > 0 || r.To <= r.From {
			return "", 0, fmt.Errorf("%w: range %d is %d to %d, legal are such that start above %d and end above their start", ErrRanges, i, r.From, r.To, end)
		}
		size := len(data)
		data = binary.AppendUvarint(data, uint64(r.From-end))
		data = binary.AppendUvarint(data, uint64(r.To-r.From))
		end = r.To
		if full = full || len(data) > room; full {
			data = data[:size] // the rest is only checked
			continue
		}
		kept++
	}
	if kept == 0 {
		return "", 0, nil
	}
	binary.LittleEndian.PutUint32(data, uint32(xxhash.Sum64(data[4:])))
	return rangesPrefix + rangesEncoding.EncodeToString(data), kept, nil
}

// ParseRanges returns the ranges of a text that FormatRanges made. The empty
// text has none. Any other text is an ErrRanges, also one that was cut off or
// changed.
func ParseRanges(text string) ([]OffsetRange, error) {
	if text == "" {
		return nil, nil
	}
	body, ok := strings.CutPrefix(text, rangesPrefix)
	if !ok {
		return nil, fmt.Errorf("%w: %.40q does not begin with %q", ErrRanges, text, rangesPrefix)
	}
	// The strict decoder passes over line ends.
	data, err := rangesEncoding.DecodeString(body)
	if err != nil || strings.ContainsAny(body, "\r\n") {
		return nil, fmt.Errorf("%w: what follows %q is not base64", ErrRanges, rangesPrefix)
	}
	if len(data) <= 4 || binary.LittleEndian.Uint32(data) != uint32(xxhash.Sum64(data[4:])) {
		return nil, fmt.Errorf("%w: the checksum of %d bytes does not match", ErrRanges, len(data))
	}
	var ranges []OffsetRange
	end := int64(0)
	for rest := data[4:]; len(rest) > 0; {
		gap, n := uvarint(rest)
		length, m := uvarint(rest[max(n, 0):])
		if n <= 0 || m <= 0 {
			return nil, fmt.Errorf("%w: the numbers of range %d are cut off or not in their shortest form", ErrRanges, len(ranges))
		}
		rest = rest[n+m:]
		if room := uint64(math.MaxInt64 - end); gap > room || length > room-gap || length == 0 || gap == 0 && len(ranges) > 0 {
			return nil, fmt.Errorf("%w: range %d lies %d behind %d and has a length of %d", ErrRanges, len(ranges), gap, end, length)
		}
		r := OffsetRange{From: end + int64(gap)}
		r.To = r.From + int64(length)
		end = r.To
		ranges = append(ranges, r)
	}
	return ranges, nil
}

// uvarint is binary.Uvarint that accepts the shortest form alone, so that
// ranges have one text.
func uvarint(b []byte) (x uint64, n int) {
	if x, n = binary.Uvarint(b); n > 1 && b[n-1] == 0 {
		return 0, -n
	}
	return x, n
}

// Delivered is a set of offsets that were delivered before a restart. The zero
// Delivered is empty. It may be used by several goroutines.
//
// A source restores it with the committed offset, and then issues and releases
// at once the batches whose offsets are all in the set, without handing their
// records out; so the next DeliveredRanges has them again. The ranges are
// absolute offsets: they stay right when the offset is committed anew without
// them or with older ones, also by another program. They are wrong when
// offsets come to mean other records, as in a topic that was created anew.
// Whoever resets the committed offset in such a case must clear what is kept
// beside it, which every commit without it does.
type Delivered struct {
	ranges []OffsetRange
}

// RestoreDelivered returns what text, as FormatRanges made it, says of offsets
// from committed on. The empty text is an empty set. Another text is an empty
// set and an ErrRanges: it is somebody else's, and nothing is lost without it.
func RestoreDelivered(committed int64, text string) (Delivered, error) {
	ranges, err := ParseRanges(text)
	if err != nil {
		return Delivered{}, err
	}
	for len(ranges) > 0 && ranges[0].To <= committed {
		ranges = ranges[1:]
	}
	if len(ranges) > 0 {
		ranges[0].From = max(ranges[0].From, committed)
	}
	return Delivered{ranges}, nil
}

// Empty reports whether there is nothing to skip.
func (d Delivered) Empty() bool { return len(d.ranges) == 0 }

// End returns the first offset from which on there is nothing to skip, 0 for
// an empty set.
func (d Delivered) End() int64 {
	if d.Empty() {
		return 0
	}
	return d.ranges[len(d.ranges)-1].To
}

// Contains reports whether offset was delivered.
func (d Delivered) Contains(offset int64) bool {
	_, ok := d.find(offset)
	return ok
}

// Covers reports whether all offsets from from up to, and without, to were
// delivered. It is true for none at all.
func (d Delivered) Covers(from, to int64) bool {
	if from >= to {
		return true
	}
	r, ok := d.find(from)
	return ok && to <= r.To
}

// Ranges returns a copy of the ranges.
func (d Delivered) Ranges() []OffsetRange { return slices.Clone(d.ranges) }

// find returns the range that holds offset.
func (d Delivered) find(offset int64) (OffsetRange, bool) {
	i, _ := slices.BinarySearchFunc(d.ranges, offset, func(r OffsetRange, offset int64) int {
		if r.To <= offset {
			return -1
		}
		return 1
	})
	if i == len(d.ranges) || d.ranges[i].From > offset {
		return OffsetRange{}, false
	}
	return d.ranges[i], true
}
