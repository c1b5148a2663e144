package chaos

import (
	"strings"
	"testing"
)

// by is an ownership of partition 0.
func by(member, admission int) ownership { return ownership{member, 0, admission} }

func said(values ...string) (rs []record) {
	for i, v := range values {
		rs = append(rs, record{int64(i), []byte(v)})
	}
	return rs
}

// filled is an oracle of one partition: two records, a marker, and a record.
func filled() *oracle {
	o := newOracle(1, 2)
	for offset, v := range []string{"a", "b", "", "d"} {
		k := visible
		if v == "" {
			k = hidden
		}
		o.produced(0, int64(offset), k, []byte(v))
	}
	return o
}

// The storms break few of these rules: the pipeline keeps them.
func TestOracleObjectsToEachThingThatMustNotBe(t *testing.T) {
	d := record{3, []byte("d")}
	for name, tt := range map[string]struct {
		want string
		do   func(o *oracle)
	}{
		"a commit over an undelivered record": {"offset 1 is not delivered", func(o *oracle) {
			o.delivered(by(1, 1), said("a"))
			o.asked("m", 0, 2)
		}},
		"a commit over a record that is not known yet": {"offset 4 is not delivered", func(o *oracle) {
			o.delivered(by(1, 1), append(said("a", "b"), d))
			o.asked("m", 0, 5)
			o.produced(0, 4, visible, []byte("e"))
		}},
		"a commit above the end": {"nobody produced 4", func(o *oracle) {
			o.delivered(by(1, 1), append(said("a", "b"), d))
			o.asked("m", 0, 5)
			o.holds(0, 4)
			o.settle([]int64{4})
		}},
		"a claim of an undelivered record": {"offset 3 is not delivered", func(o *oracle) {
			o.delivered(by(1, 1), said("a"))
			o.asked("m", 0, 1)
			o.claimed("m", 0, 2, 4) // over the marker
		}},
		"a commit that nobody asked for": {"the group has committed", func(o *oracle) { o.holds(0, 1) }},
		"a commit that goes back": {"went back from 2 to 1", func(o *oracle) {
			o.delivered(by(1, 1), said("a", "b"))
			o.holds(0, 2)
			o.holds(0, 1)
		}},
		"a commit below the end": {"committed at 3, its log ends at 4", func(o *oracle) {
			o.delivered(by(1, 1), append(said("a", "b"), d))
			o.asked("m", 0, 3)
			o.holds(0, 3)
			o.settle([]int64{4})
		}},
		"another value":     {"was not produced there", func(o *oracle) { o.delivered(by(1, 1), said("x")) }},
		"an aborted record": {"aborted transaction", func(o *oracle) { o.delivered(by(1, 1), []record{{2, []byte("c")}}) }},
		"what never was":    {"delivered and never produced", func(o *oracle) { o.delivered(by(1, 1), []record{{9, []byte("j")}}); o.settle([]int64{4}) }},
		"a value known late": {"with another value", func(o *oracle) {
			o.delivered(by(1, 1), []record{{4, []byte("x")}})
			o.produced(0, 4, visible, []byte("e"))
		}},
		"an abort known late": {"aborted transaction", func(o *oracle) {
			o.delivered(by(1, 1), []record{{4, []byte("e")}})
			o.produced(0, 4, hidden, []byte("e"))
		}},
		"too much again": {"3 records of partition 0 again", func(o *oracle) {
			o.delivered(by(1, 1), append(said("a", "b"), d))
			o.delivered(by(2, 1), append(said("a", "b"), d))
		}},
		"nothing at all": {"shows nothing", func(o *oracle) { o.settle([]int64{}) }},
	} {
		t.Run(name, func(t *testing.T) {
			o := filled()
			tt.do(o)
			if got := o.violated(); !strings.Contains(got, tt.want) {
				t.Errorf("it says %q, want %q", got, tt.want)
			}
		})
	}
}

func TestOracleAcceptsWhatMayBe(t *testing.T) {
	o := filled()
	d := record{3, []byte("d")}
	o.delivered(by(1, 1), said("a", "b"))
	o.asked("m", 0, 3) // over the marker
	o.holds(0, 3)
	o.claimed("m", 0, 1, 3)
	o.delivered(by(1, 1), []record{d, {4, []byte("e")}})
	o.asked("m", 0, 6) // over what is about to be a marker
	o.produced(0, 4, visible, []byte("e"))
	o.produced(0, 5, hidden, nil)
	for admission := range 3 {
		o.delivered(by(2, admission), []record{d, {4, []byte("e")}}) // twice each, within the bound
	}
	o.holds(0, 6)
	if left, _ := o.left([]int64{6}); left != 0 {
		t.Errorf("%d left", left)
	}
	o.settle([]int64{6})
	if got := o.violated(); got != "" {
		t.Error(got)
	}
}
