package live

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-go/tidemark/core/checkpoint"
	"github.com/tidemark-go/tidemark/core/timing"
)

// Config says what a Handler shows. Every field may be left out: what is
// missing is said to be missing. The functions are called by whoever answers a
// request, so several goroutines may call them at once.
type Config struct {
	// Title is the heading of the page; the default is Tidemark.
	Title string
	// Snapshot returns the state of a Checkpointer with at most n partitions,
	// as the method of that name does. One that is the zero Snapshot says that
	// there is no Checkpointer yet, or no more.
	Snapshot func(n int) checkpoint.Snapshot
	// Name returns the name of a partition, such as orders/3; the default is
	// its number. It is called after Snapshot, for partitions that may have
	// been revoked meanwhile.
	Name func(checkpoint.PartitionID) string
	// Ledger has the barriers.
	Ledger *timing.Ledger
	// HeldBackAfter is how long a batch may hold a partition back before the
	// page marks it: something longer than batches usually take. The default
	// is DefaultHeldBackAfter. A failed batch is marked at once.
	HeldBackAfter time.Duration
}

// DefaultHeldBackAfter is what Config.HeldBackAfter is if it is not above 0.
const DefaultHeldBackAfter = 2 * time.Second

const (
	// DefaultPartitions is how many partitions an answer has at most, unless
	// the request says otherwise.
	DefaultPartitions = 1000
	// MaxPartitions is the most that a request can ask for.
	MaxPartitions = 10_000
	// MaxRecords is how many records of the ledger an answer has at most.
	MaxRecords = 240
)

// handler answers requests. It is immutable.
type handler struct {
	cfg      Config
	instance string
	page     []byte
}

// Handler serves the page and the JSON behind it; see the package
// documentation. It is safe for concurrent use.
func Handler(cfg Config) http.Handler {
	if cfg.Title == "" {
		cfg.Title = "Tidemark"
	}
	if cfg.HeldBackAfter <= 0 {
		cfg.HeldBackAfter = DefaultHeldBackAfter
	}
	return &handler{cfg: cfg, instance: uuid.NewString(), page: pageOf(cfg.Title)}
}

// ServeHTTP is part of http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Cache-Control", "no-store")
	head.Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		head.Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, fmt.Errorf("live: method is %s, legal are GET and HEAD", r.Method))
		return
	}
	q, err := parseQuery(r.URL.RawQuery)
	if err != nil {
		refuse(w, http.StatusBadRequest, err)
		return
	}
	if q.json {
		answer(w, http.StatusOK, h.state(q))
		return
	}
	head.Set("Content-Type", "text/html; charset=utf-8")
	head.Set("Content-Security-Policy", policy)
	head.Set("Referrer-Policy", "no-referrer")
	_, _ = w.Write(h.page) // a client that is gone is no concern
}

func refuse(w http.ResponseWriter, status int, err error) {
	answer(w, status, struct {
		Error string `json:"error"`
	}{err.Error()})
}

func answer(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		panic(fmt.Sprintf("live: cannot marshal an answer: %v", err))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n'))
}
