package chaos

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/adapters/kafka"
)

// How long the tests take, and with which seed, is set from outside; "make
// chaos" does that.
const (
	seedVariable = "TIDEMARK_SEED"
	timeVariable = "TIDEMARK_CHAOS_TIME"
)

const (
	// roundTime is about how long one cluster lives in a long run.
	roundTime = 20 * time.Second
	// shortTime is the storm of a run that is one test among others,
	// shorterTime where there are many more of them.
	shortTime   = 4 * time.Second
	shorterTime = 3 * time.Second
	// caughtWithin is how long a member may go on that commits too much.
	caughtWithin = 30 * time.Second
	// controlPace is between one of them that comes or goes and the next.
	controlPace = 700 * time.Millisecond
)

var protocols = []kafka.Protocol{kafka.Cooperative, kafka.Eager, kafka.KIP848}

// seedOf is the seed of a run.
func seedOf(t *testing.T) uint64 {
	t.Helper()
	seed := rand.Uint64N(1 << 32)
	if v := os.Getenv(seedVariable); v != "" {
		n, err := strconv.ParseUint(v, 10, 64)
		if err != nil {
			t.Fatalf("%s is %q; it must be a number from 0: %v", seedVariable, v, err)
		}
		seed = n
	}
	return seed
}

// timeOf is how long a long run takes, or 0 for a short one.
func timeOf(t *testing.T) time.Duration {
	t.Helper()
	v := os.Getenv(timeVariable)
	if v == "" {
		return 0
	}
	d, err := time.ParseDuration(v)
	if err != nil || d <= 0 {
		t.Fatalf("%s is %q; it must be a duration such as 60s or 8h", timeVariable, v)
	}
	return d
}

// round is one storm over one cluster.
type round struct {
	protocol kafka.Protocol
	seed     uint64
	storm    time.Duration
}

// result says what a round saw.
type result struct {
	done                                 map[string]int
	deliveries, repeats, commits, claims int
	log                                  []string
}

func (r round) run() (res result, err error) {
	dir, err := os.MkdirTemp("", "tidemark-chaos-") // a long run has many
	if err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	c, err := newCrew(dir, r.protocol, "", r.seed)
	if err != nil {
		return res, err
	}
	defer c.close()
	s := newStorm(c, r.seed)
	err = s.rage(r.storm)
	s.thaw(true)
	if err == nil && len(c.live) < fewest {
		err = s.join()
	}
	if err == nil {
		err = errors.Join(c.settle(), c.part())
	}
	if err == nil {
		c.host.sample()
		c.o.settle(c.host.ends())
	}
	res = result{s.done, c.o.deliveries, c.o.repeats, c.o.commits, c.o.claims, s.log}
	if v := c.o.violated(); v != "" {
		err = errors.Join(fmt.Errorf("chaos: %s", v), err)
	}
	return res, err
}

// report fails the test with what is needed to see it again.
func (r round) report(t *testing.T, res result, err error) {
	t.Helper()
	tail := res.log[max(len(res.log)-40, 0):]
	t.Errorf("%v with seed %d: %v\nwhat the storm did, ending with:\n%s\nto see it again, most likely: make chaos SEED=%d TIME=60s",
		r.protocol, r.seed, err, strings.Join(tail, "\n"), r.seed)
}

func (res result) String() string {
	var did []string
	for _, what := range slices.Sorted(maps.Keys(res.done)) {
		did = append(did, fmt.Sprintf("%d %s", res.done[what], what))
	}
	return fmt.Sprintf("%d deliveries, %d again, %d commits, %d ranges above them; %s", res.deliveries, res.repeats, res.commits, res.claims, strings.Join(did, ", "))
}

func TestNoCommitPassesAnUndeliveredRecordWhileMembersComeAndGo(t *testing.T) {
	total := timeOf(t)
	if total > 0 {
		long(t, total)
		return
	}
	seed, d := seedOf(t), shortTime
	if testing.Short() {
		d = shorterTime
	}
	for _, protocol := range protocols {
		t.Run(protocol.String(), func(t *testing.T) {
			t.Parallel()
			r := round{protocol, seed, d}
			res, err := r.run()
			t.Logf("seed %d: %v", seed, res)
			if err != nil {
				r.report(t, res, err)
			}
		})
	}
}

// long runs rounds one after the other, each with the next seed and protocol,
// and says how far it is.
func long(t *testing.T, total time.Duration) {
	seed := seedOf(t)
	rounds := max(int(total/roundTime)/len(protocols), 1) * len(protocols)
	fmt.Printf("chaos: seed %d, %v in %d rounds\n", seed, total, rounds)
	kills, begin := 0, time.Now()
	for i := range rounds {
		from := time.Now()
		// What settling takes is taken from the storms that are left.
		left := total - time.Since(begin)
		r := round{protocols[i%len(protocols)], seed + uint64(i/len(protocols)), max(left/time.Duration(rounds-i)-time.Second, shortTime)}
		res, err := r.run()
		if err != nil {
			r.report(t, res, err)
			return
		}
		kills += res.done["kill"]
		eta := max(total-time.Since(begin), 0)
		fmt.Printf("chaos: round %d of %d, %v, seed %d, %.1f s: %v; about %v to go\n",
			i+1, rounds, r.protocol, r.seed, time.Since(from).Seconds(), res, eta.Round(time.Second))
	}
	fmt.Printf("chaos: seed %d passed: %d rounds, %d kills, %.0f s\n", seed, rounds, kills, time.Since(begin).Seconds())
}

// The run is worth something only if it catches what it is there for.
func TestOracleCatchesMembersThatCommitTooMuch(t *testing.T) {
	for m, want := range map[mistake]string{
		commitsPolled:  "is not delivered",
		commitsHighest: "is not delivered",
		commitsLast2:   "is not delivered",
		ignoresRevokes: "went back from",
	} {
		t.Run(string(m), func(t *testing.T) {
			t.Parallel()
			begin := time.Now()
			found := control(t, m, caughtWithin)
			if !strings.Contains(found, want) {
				t.Fatalf("found %q within %v, want that something %s", found, caughtWithin, want)
			}
			t.Logf("caught after %.1f s: %s", time.Since(begin).Seconds(), found)
		})
	}
}

// A member that is written by hand as well, and makes no mistake: what is
// caught above is the mistake.
func TestOracleFindsNothingInAMemberThatMakesNoMistake(t *testing.T) {
	t.Parallel()
	if found := control(t, none, shortTime); found != "" {
		t.Fatal(found)
	}
}

// control runs members written by hand until the oracle finds something. They
// come and go without haste: what they do wrong is enough.
func control(t *testing.T, m mistake, d time.Duration) string {
	seed := seedOf(t)
	t.Logf("seed %d", seed)
	c, err := newCrew(t.TempDir(), kafka.Cooperative, m, seed)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	rng, begin, next := rand.New(rand.NewPCG(seed, 0)), time.Now(), time.Now()
	for c.o.violated() == "" && time.Since(begin) < d {
		if time.Now().After(next) {
			if len(c.live) <= fewest {
				if _, err := c.hire(); err != nil {
					t.Fatal(err)
				}
			} else {
				c.leave(oneOf(rng, c.live))
			}
			next = next.Add(controlPace)
		}
		if err := errors.Join(c.producer.produce(rng), c.check()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(step / 4)
	}
	return c.o.violated()
}
