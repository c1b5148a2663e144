package producer

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tidemark-go/tidemark/adapters/kafka/internal/input"
	"github.com/tidemark-go/tidemark/adapters/kafka/internal/lines"
)

const (
	// fetchBytes bounds what reading back keeps in memory.
	fetchBytes = 4 << 20
	// bufferedBytes and bufferedRecords bound what waits to be acknowledged.
	bufferedBytes   = 16 << 20
	bufferedRecords = 50_000
	// setupTimeout bounds creating the topic and looking at it.
	setupTimeout = 30 * time.Second
	// deliveryTimeout is how long a record may take, a broker's restart
	// included; grace is how long it may take after the context ended.
	deliveryTimeout = time.Minute
	grace           = 10 * time.Second
	// slabRecords are allocated at a time.
	slabRecords = 256
)

// Config says what goes where.
type Config struct {
	// Client are the options to connect with: brokers, and how to log in.
	Client     []kgo.Opt
	Input      *input.Input
	Topic      string
	Partitions int32
	// MaxLine is the longest line that becomes a record; the bytes of a
	// longer one are spilled and the record names the file.
	MaxLine int
	// Spill keeps the bytes of a long line. It is called once or more for a
	// line, always with the same bytes.
	Spill func(num int64, r *lines.Reader) (lines.Spilled, error)
}

// Progress is what Produce has done so far; it may be read at any time.
type Progress struct {
	// Found counts lines that the topic held already, Sent those that were
	// handed to the client, Acked those that the broker has. Written by
	// Produce, read by anyone; they only grow.
	Found, Sent, Acked atomic.Int64
}

// Produce brings every line of the input into the topic that is not there
// yet. When the context ends it waits for what is on the way and returns the
// context's error; the next call goes on from there.
func Produce(ctx context.Context, cfg Config, progress *Progress) error {
	cl, err := kgo.NewClient(append(cfg.Client[:len(cfg.Client):len(cfg.Client)],
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		// Uncompressed, so that what consumers fetch is as large in memory as
		// it is on the wire, and their limits in bytes hold.
		kgo.ProducerBatchCompression(kgo.NoCompression()),
		kgo.RecordDeliveryTimeout(deliveryTimeout),
		kgo.MaxBufferedRecords(bufferedRecords),
		kgo.MaxBufferedBytes(bufferedBytes))...)
	if err != nil {
		return fmt.Errorf("producer: %w", err)
	}
	defer cl.Close()
	held, err := inspect(ctx, cfg, kadm.NewClient(cl))
	if err != nil {
		return err
	}
	if held == nil {
		progress.Found.Store(cfg.Input.Lines)
		return nil
	}
	progress.Found.Store(held.Len())
	s := &sender{cfg: cfg, client: cl, held: held, progress: progress}
	return s.run(ctx)
}

// inspect makes sure of the topic and returns the lines it holds, nil for all
// of them.
func inspect(ctx context.Context, cfg Config, adm *kadm.Client) (*lines.Set, error) {
	setup, cancel := context.WithTimeoutCause(ctx, setupTimeout, fmt.Errorf("no answer within %v", setupTimeout))
	defer cancel()
	if err := ensureTopic(setup, adm, cfg.Topic, cfg.Partitions); err != nil {
		return nil, err
	}
	ends, err := adm.ListEndOffsets(setup, cfg.Topic)
	if err = errors.Join(err, ends.Error()); err != nil {
		return nil, fmt.Errorf("%w %s: listing its end: %w", ErrTopic, cfg.Topic, err)
	}
	if isComplete(ends, cfg.Topic, cfg.Input.Lines, cfg.Partitions) {
		return nil, nil
	}
	starts, err := adm.ListStartOffsets(setup, cfg.Topic)
	if err = errors.Join(err, starts.Error()); err != nil {
		return nil, fmt.Errorf("%w %s: listing its start: %w", ErrTopic, cfg.Topic, err)
	}
	held, err := scan(ctx, cfg.Client, cfg.Topic, starts, ends, cfg.Input.Lines)
	if err != nil || held.Len() == cfg.Input.Lines {
		return nil, err
	}
	return held, nil
}

// sender produces the lines that the topic does not hold.
type sender struct {
	cfg      Config
	client   *kgo.Client
	held     *lines.Set
	progress *Progress
	slab     []kgo.Record
	keys     []byte

	mu sync.Mutex
	// err is the first record's error. Guarded by mu: the client's
	// goroutines set it.
	err error
}

func (s *sender) run(ctx context.Context) error {
	text, err := s.cfg.Input.Open()
	if err != nil {
		return err
	}
	defer text.Close()
	reader, err := lines.NewReader(text, s.cfg.MaxLine)
	if err != nil {
		return err
	}
	// What was handed over may still arrive when the context ends.
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })()
	for s.failed() == nil && ctx.Err() == nil && reader.Next() {
		line := reader.Line()
		if s.held.Has(line.Num) {
			continue
		}
		if err := s.send(late, line, reader); err != nil {
			return err
		}
	}
	if err := s.client.Flush(late); err != nil {
		return fmt.Errorf("producer: waiting for acknowledgements: %w", err)
	}
	return errors.Join(s.failed(), reader.Err(), ctx.Err())
}

func (s *sender) send(ctx context.Context, line lines.Line, reader *lines.Reader) error {
	r := s.record()
	r.Topic = s.cfg.Topic
	r.Partition = partitionOf(line.Num, s.cfg.Partitions)
	start := len(s.keys)
	s.keys = strconv.AppendInt(s.keys, line.Num, 10)
	r.Key = s.keys[start:len(s.keys):len(s.keys)]
	r.Value = line.Raw
	if line.Long {
		spilled, err := s.cfg.Spill(line.Num, reader)
		if err != nil {
			return err
		}
		MarkSpilled(r, line.Raw, spilled)
	}
	s.progress.Sent.Add(1)
	s.client.Produce(ctx, r, s.done) // waits while too much is buffered
	return nil
}

// record takes one off the slab, and with it room for its key.
func (s *sender) record() *kgo.Record {
	if len(s.slab) == 0 {
		s.slab = make([]kgo.Record, slabRecords)
		s.keys = make([]byte, 0, slabRecords*20)
	}
	r := &s.slab[0]
	s.slab = s.slab[1:]
	return r
}

func (s *sender) done(r *kgo.Record, err error) {
	if err == nil {
		s.progress.Acked.Add(1)
		return
	}
	hint := "run again to go on from here"
	if errors.Is(err, kerr.MessageTooLarge) {
		hint = "the topic takes smaller records only: run again with a smaller limit for lines"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = fmt.Errorf("producer: line %s to partition %d of %s: %w; %s", r.Key, r.Partition, r.Topic, err, hint)
	}
}

func (s *sender) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}
