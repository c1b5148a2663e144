package live

import (
	"strconv"
	"time"

	"github.com/tidemark-go/tidemark/core/checkpoint"
)

// Version is the State.Version of this package.
const Version = 1

// State is what an answer in JSON says. Names inside of Checkpointer are as in
// the JSON of checkpoint.Snapshot, those inside of Barriers as in that of
// timing.Snapshot.
type State struct {
	Version int `json:"version"` // see Version
	// Instance is new with each Handler, so it tells one process from the
	// next.
	Instance      string        `json:"instance"`
	Title         string        `json:"title"`           // Config.Title
	HeldBackAfter time.Duration `json:"heldBackAfterNs"` // Config.HeldBackAfter
	Checkpointer  *Checkpointer `json:"checkpointer"`    // null if there is none
	Barriers      *Barriers     `json:"barriers"`        // null without a ledger
}

// Checkpointer is a Snapshot whose partitions have names and ages.
type Checkpointer struct {
	checkpoint.Snapshot
	// Partitions takes the place of the field of that name in Snapshot.
	Partitions []Partition `json:"partitions"`
}

// Partition is the state of one partition.
type Partition struct {
	Name string `json:"name"` // by Config.Name
	// HeldBack is for how long its head has held it back, 0 without a head.
	HeldBack time.Duration `json:"heldBackNs"`
	checkpoint.PartitionSnapshot
}

// state makes the answer to a query.
func (h *handler) state(q query) State {
	s := State{Version: Version, Instance: h.instance, Title: h.cfg.Title, HeldBackAfter: h.cfg.HeldBackAfter}
	if h.cfg.Snapshot != nil {
		s.Checkpointer = h.checkpointer(h.cfg.Snapshot(q.n))
	}
	if h.cfg.Ledger != nil {
		s.Barriers = readBarriers(h.cfg.Ledger, q.cursor)
	}
	return s
}

func (h *handler) checkpointer(s checkpoint.Snapshot) *Checkpointer {
	if s.Time.IsZero() {
		return nil
	}
	c := &Checkpointer{Snapshot: s, Partitions: make([]Partition, 0, len(s.Partitions))}
	for _, p := range s.Partitions {
		named := Partition{Name: h.name(p.Partition), PartitionSnapshot: p}
		if p.Head != nil {
			named.HeldBack = max(s.Time.Sub(p.Head.Since), 0) // a clock may have been set back
		}
		c.Partitions = append(c.Partitions, named)
	}
	return c
}

func (h *handler) name(p checkpoint.PartitionID) string {
	if h.cfg.Name == nil {
		return strconv.FormatUint(uint64(p), 10)
	}
	return h.cfg.Name(p)
}
