package chaos

import (
	"fmt"
	"hash/fnv"
	"sync"
	"time"
)

// oracle is the sink, and knows what was produced and committed. Everything
// it is told comes in one order, that of its lock.
type oracle struct {
	// bound is how many records one ownership may deliver again.
	bound int

	mu     sync.Mutex
	logs   []partitionLog
	groups map[ownership]int // ownership → records it delivered again
	// violations are what must not be, in order. The first is what counts.
	violations []string
	deliveries int
	repeats    int
	commits    int
	claims     int
}

// ownership is one member's possession of one partition, from its assignment
// to its end.
type ownership struct {
	member    int
	partition int32
	admission int
}

type partitionLog struct {
	entries []entry
	// prefix is where the first record is that is not delivered.
	prefix int64
	// committed is the group's commit as last seen, -1 before the first.
	committed int64
	// suspects are offsets below a commit, neither delivered nor known to be
	// produced at that time, with what to say if they turn out to be records.
	suspects map[int64]string
	// seen is what was asked for and held last, for whoever has to find out why
	// a commit went back.
	seen []sighting
}

// sighting is a commit that a member asked for, or that the group held.
type sighting struct {
	when   time.Time
	what   string
	offset int64
}

// mostSeen is how many sightings of a partition are kept.
const mostSeen = 24

// note keeps a sighting. mu is held.
func (l *partitionLog) note(what string, offset int64) {
	if len(l.seen) == mostSeen {
		l.seen = append(l.seen[:0], l.seen[1:]...)
	}
	l.seen = append(l.seen, sighting{time.Now(), what, offset})
}

// history tells the sightings. mu is held.
func (l *partitionLog) history() (text string) {
	for _, s := range l.seen {
		text += fmt.Sprintf("\n  %7.3f s before: %s %d", time.Since(s.when).Seconds(), s.what, s.offset)
	}
	return text
}

// entry is an offset of a log.
type entry struct {
	kind  kind
	times uint16 // delivered
	sum   uint64 // of the value, once produced or delivered
}

// kind is what the producer said of an offset.
type kind uint8

const (
	unheard kind = iota // nothing yet
	visible             // a record that has to be delivered
	hidden              // a marker, or a record of an aborted transaction
)

func newOracle(partitions, bound int) *oracle {
	o := &oracle{bound: bound, logs: make([]partitionLog, partitions), groups: map[ownership]int{}}
	for p := range o.logs {
		o.logs[p].committed = -1
		o.logs[p].suspects = map[int64]string{}
	}
	return o
}

func sumOf(value []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(value) // it takes everything
	return h.Sum64()
}

// at returns the entry of an offset. mu is held.
func (l *partitionLog) at(offset int64) *entry {
	for int64(len(l.entries)) <= offset {
		l.entries = append(l.entries, entry{})
	}
	return &l.entries[offset]
}

func (l *partitionLog) advance() {
	for l.prefix < int64(len(l.entries)) && (l.entries[l.prefix].times > 0 || l.entries[l.prefix].kind == hidden) {
		l.prefix++
	}
}

// produced is told of an offset once it is settled.
func (o *oracle) produced(partition int32, offset int64, k kind, value []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	l := &o.logs[partition]
	e := l.at(offset)
	e.kind = k
	switch text, suspect := l.suspects[offset]; {
	case k == hidden && e.times > 0:
		o.violate("partition %d: offset %d was delivered, and is of an aborted transaction", partition, offset)
	case k == visible && e.times > 0 && e.sum != sumOf(value):
		o.violate("partition %d: offset %d was delivered with another value than %q", partition, offset, value)
	case k == visible && suspect:
		o.violate("%s", text)
	}
	e.sum = sumOf(value)
	delete(l.suspects, offset)
	l.advance()
}

// delivered is told of a batch before it is acknowledged.
func (o *oracle) delivered(by ownership, records []record) {
	o.mu.Lock()
	defer o.mu.Unlock()
	l := &o.logs[by.partition]
	for _, r := range records {
		e := l.at(r.Offset)
		sum := sumOf(r.Value)
		switch {
		case e.kind == hidden:
			o.violate("partition %d: offset %d was delivered, and is of an aborted transaction", by.partition, r.Offset)
		case (e.kind == visible || e.times > 0) && e.sum != sum:
			o.violate("partition %d: offset %d was delivered as %q, which was not produced there", by.partition, r.Offset, r.Value)
		}
		e.sum = sum
		o.deliveries++
		if e.times > 0 {
			o.repeats++
			o.groups[by]++
		}
		e.times++
	}
	if n := o.groups[by]; n > o.bound {
		o.violate("member %d delivered %d records of partition %d again in one ownership, the bound is %d", by.member, n, by.partition, o.bound)
	}
	l.advance()
}

// asked is told of a commit before the broker acts on it, also of one that the
// broker will refuse: what a member claims to be delivered is true at any time.
func (o *oracle) asked(member string, partition int32, offset int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.commits++
	o.logs[partition].note(member+" asks for", offset)
	o.covered(fmt.Sprintf("%s commits", member), partition, 0, offset)
}

// claimed is told of offsets above a commit that it says are delivered.
func (o *oracle) claimed(member string, partition int32, from, to int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.claims++
	o.covered(fmt.Sprintf("%s claims to have delivered", member), partition, from, to)
}

// covered checks that everything from an offset up to, and without, another is
// delivered. mu is held.
func (o *oracle) covered(who string, partition int32, from, to int64) {
	l := &o.logs[partition]
	for at := max(from, l.prefix); at < to; at++ {
		e := l.at(at)
		if e.times > 0 || e.kind == hidden {
			continue
		}
		text := fmt.Sprintf("%s partition %d at %d, and offset %d is not delivered", who, partition, to, at)
		if e.kind == visible {
			o.violate("%s", text)
			return
		}
		if l.suspects[at] == "" {
			l.suspects[at] = text // a record or a marker: the producer is about to say
		}
	}
}

// holds is told what the broker has as the group's commit.
func (o *oracle) holds(partition int32, offset int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	l := &o.logs[partition]
	if offset < l.committed {
		o.violate("the group's commit of partition %d went back from %d to %d%s", partition, l.committed, offset, l.history())
	}
	if offset != l.committed {
		l.note("the group has", offset)
		o.covered("the group has committed", partition, 0, offset)
	}
	l.committed = offset
}

// violate notes what must not be. mu is held.
func (o *oracle) violate(format string, args ...any) {
	o.violations = append(o.violations, fmt.Sprintf(format, args...))
}

// object is violate for who does not hold mu.
func (o *oracle) object(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.violate(format, args...)
}

// violated returns the first violation, or "".
func (o *oracle) violated() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.violations) == 0 {
		return ""
	}
	return o.violations[0]
}

// left says how much is to be delivered and committed of logs that end at
// ends. moved grows as long as there is progress.
func (o *oracle) left(ends []int64) (left, moved int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for p, end := range ends {
		l := &o.logs[p]
		left += max(end-l.prefix, 0) + max(end-max(l.committed, 0), 0)
		moved += l.prefix + max(l.committed, 0)
	}
	return left, moved
}

// where says how far each partition is.
func (o *oracle) where(ends []int64) (text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for p, end := range ends {
		text += fmt.Sprintf("partition %d: delivered up to %d, committed at %d, ends at %d\n", p, o.logs[p].prefix, o.logs[p].committed, end)
	}
	return text
}

// settle checks what can only be checked in the end.
func (o *oracle) settle(ends []int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for p, end := range ends {
		l := &o.logs[p]
		for offset := range l.entries {
			if e := &l.entries[offset]; e.kind == unheard && e.times > 0 {
				o.violate("partition %d: offset %d was delivered and never produced", p, offset)
			}
		}
		for offset, text := range l.suspects {
			o.violate("%s: the log ends at %d, and nobody produced %d", text, end, offset)
		}
		if l.committed != end {
			o.violate("partition %d is committed at %d, its log ends at %d", p, l.committed, end)
		}
	}
	if o.commits == 0 || o.deliveries == 0 {
		o.violate("%d commits and %d deliveries: the run shows nothing", o.commits, o.deliveries)
	}
}
