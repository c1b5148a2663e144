package kafka

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/tidemark-go/tidemark/core/checkpoint"
	"github.com/tidemark-go/tidemark/core/timing"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Batch is a run of consecutive records of one partition. Whoever holds it
// calls Ack.Done exactly once, when every record is delivered (nil) or when
// one cannot be (an error); more holders are added with Ack.Retain.
type Batch struct {
	// Topic and Partition are where the records are from.
	Topic     string
	Partition int32
	// Records are in offset order, at least one, without control records.
	// They belong to the holder.
	Records []*kgo.Record
	// Ack has one holder, the one who polled the batch.
	Ack checkpoint.Ack
	// FetchedAt is when the poll that brought the records returned.
	FetchedAt time.Time
	// Ownership is that of the partition, see PartitionStats: with another
	// number there, or without the partition, the batch is delivered again and
	// its Ack counts for nothing.
	Ownership uint64
}

// Source is a member of a consumer group. All methods may be called from
// several goroutines.
//
// Inside, one goroutine polls the client and issues batches, one commits on
// an interval, one waits for acknowledgements when something depends on them,
// and the client calls the assignment hooks from its own. mu guards the
// state; commitSem keeps commits in order and is held across the request, so
// it is always taken before mu and never the other way round.
type Source struct {
	cfg Config
	log *slog.Logger
	cl  *kgo.Client
	cp  *checkpoint.Checkpointer

	// topicIDs belongs to the polling goroutine alone.
	topicIDs map[string][16]byte

	mu sync.Mutex
	// issuer is used with mu held, by the polling goroutine for what it
	// polled and by whoever finds room for what it had to put aside.
	issuer *checkpoint.Issuer
	parts  partitions
	ready  readyQueue
	membership
	// pollErr is an error that Poll reports once.
	pollErr error
	// paused counts partitions whose fetching is paused, waiters the
	// goroutines in await; with either, the watcher follows acknowledgements.
	paused, waiters int
	// progress is closed and replaced whenever the watcher drained.
	progress chan struct{}
	// inFlight is the commit that was sent and not answered, if any, and
	// cancelCommit ends it.
	inFlight     map[topicPartition]*commitment
	cancelCommit context.CancelFunc
	// wakePoller interrupts the poll in flight; nil while nothing is paused.
	wakePoller context.CancelFunc
	stats      Stats // Partitions stays empty
	// watermarks and stalls are what drain reads into, ranges what describe
	// does.
	watermarks []checkpoint.Watermark
	stalls     []checkpoint.Stall
	ranges     []checkpoint.OffsetRange
	// fetched are the commits that were fetched last, deliveredLimit is how
	// much metadata a commit may carry, as far as known.
	fetched        map[topicPartition]fetchedCommit
	deliveredLimit int
	// newStalls are stalls that were not logged yet.
	newStalls []newStall
	closing   bool
	// unsaved counts partitions given up during Close with something
	// acknowledged that is not committed.
	unsaved int

	// process is written by Open alone.
	process timing.ProcessIdentity
	role    groupRole
	// attempts counts barriers that began.
	attempts   uint64
	assignment assignment

	// commitSem holds a token while a commit is built, sent and settled.
	commitSem chan struct{}
	// avail wakes one Poll, room the polling goroutine, watch the watcher.
	// Each holds at most one token: a wake-up that was not yet noticed.
	avail, room, watch chan struct{}

	// closingC is closed when Close begins, closedC when it is over; closeErr
	// is written in between.
	closingC, closedC chan struct{}
	closeErr          error
	// fetch ends the polling goroutine, run the others. wait ends a revoke's
	// wait for batches and last its commit, when Close has no time for them.
	fetch, run, wait, last stopper
	fetchDone              chan struct{}
	wg                     sync.WaitGroup
}

// stopper is a context and what cancels it.
type stopper struct {
	ctx  context.Context
	stop context.CancelFunc
}

// Open joins the consumer group and starts to fetch. Before it joins, it
// checks that a broker answers, that every topic exists and that the broker
// knows the group protocol; that takes at most 15 seconds. The Source does not
// depend on ctx after Open returned.
//
// Errors wrap ErrUnreachable or ErrUnknownTopic where they apply.
func Open(ctx context.Context, cfg Config) (*Source, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	s := newSource(cfg)
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	s.wg.Add(3)
	go s.fetchLoop()
	go s.commitLoop()
	go s.watchLoop()
	// Only now is there something to consume, and the group is joined.
	s.cl.AddConsumeTopics(cfg.Topics...)
	return s, nil
}

// newSource returns a Source without a client and without its goroutines.
func newSource(cfg Config) *Source {
	s := &Source{
		cfg:       cfg,
		log:       cfg.Logger.With("group", cfg.Group),
		cp:        cfg.checkpointer(),
		progress:  make(chan struct{}),
		commitSem: make(chan struct{}, 1),
		avail:     make(chan struct{}, 1),
		room:      make(chan struct{}, 1),
		watch:     make(chan struct{}, 1),
		closingC:  make(chan struct{}),
		closedC:   make(chan struct{}),
		fetchDone: make(chan struct{}),

		deliveredLimit: cfg.DeliveredBytes,
	}
	s.issuer = s.cp.Issuer()
	// One epoch for the life of the member: a group's generation may restart,
	// and partitions come and go by ExtendEpoch and Revoke alone.
	if err := s.cp.BeginEpoch(1); err != nil {
		panic("kafka: first epoch refused: " + err.Error())
	}
	for _, st := range []*stopper{&s.fetch, &s.run, &s.wait, &s.last} {
		st.ctx, st.stop = context.WithCancel(context.Background())
	}
	return s
}

// Poll returns the next batch, and waits for one. It returns ctx.Err() when
// ctx is done, ErrClosed once Close was called, and otherwise an error the
// client cannot recover from by itself, such as a lost authorization; the
// Source keeps trying, and Poll may be called again. Batches of one partition
// come in offset order. Poll allocates nothing.
func (s *Source) Poll(ctx context.Context) (Batch, error) {
	for {
		if err := ctx.Err(); err != nil {
			return Batch{}, err
		}
		b, ok, err := s.next()
		if ok || err != nil {
			return b, err
		}
		select {
		case <-s.avail:
		case <-s.closingC:
		case <-ctx.Done():
		}
	}
}

// next takes a batch from the queue, if there is one.
func (s *Source) next() (Batch, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return Batch{}, false, ErrClosed
	}
	if err := s.pollErr; err != nil {
		s.pollErr = nil
		signal(s.avail)
		return Batch{}, false, err
	}
	b, p, ok := s.ready.pop()
	if !ok {
		return Batch{}, false, nil
	}
	p.handed = b.Ack.LastOffset() + 1 // from here on a revoke waits for the holder
	if s.ready.len() > 0 {
		signal(s.avail)
	}
	if s.ready.records < s.cfg.PollRecords {
		signal(s.room)
	}
	return b, true, nil
}

// signal leaves a token for the goroutine that receives from c.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
