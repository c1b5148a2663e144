package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// produceTimeout bounds one round of producing; a restart of the broker is
// never under way meanwhile.
const produceTimeout = time.Minute

// producer fills the topic, sometimes in transactions, of which some abort,
// and tells the oracle what every offset is.
type producer struct {
	o          *oracle
	plain, txn *kgo.Client
	again      func() (*kgo.Client, error) // another txn
	lines      int
}

func newProducer(o *oracle, addrs []string) (*producer, error) {
	opts := []kgo.Opt{
		kgo.SeedBrokers(addrs...), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.MetadataMinAge(20 * time.Millisecond), kgo.ProducerLinger(0),
	}
	plain, err := kgo.NewClient(opts...)
	if err != nil {
		return nil, err
	}
	again := func() (*kgo.Client, error) { return kgo.NewClient(append(opts, kgo.TransactionalID("chaos"))...) }
	txn, err := again()
	if err != nil {
		plain.Close()
		return nil, err
	}
	return &producer{o: o, plain: plain, txn: txn, again: again}, nil
}

func (p *producer) close() {
	p.plain.Close()
	p.txn.Close()
}

// records makes up to most records for every partition, in the form of
// package producer: the key is the number of the line.
func (p *producer) records(rng *rand.Rand, most int) (rs []*kgo.Record) {
	for part := range int32(partitions) {
		for range 1 + rng.IntN(most) {
			p.lines++
			rs = append(rs, &kgo.Record{
				Topic: topic, Partition: part, Key: strconv.AppendInt(nil, int64(p.lines), 10),
				Value: fmt.Appendf(nil, `203.0.113.7 - - [30/Nov/2026:10:00:00 +0000] "GET /%d/%d HTTP/1.1" 200 12`, part, p.lines),
			})
		}
	}
	return rs
}

// produce adds records to every partition.
func (p *producer) produce(rng *rand.Rand) error {
	ctx, cancel := context.WithTimeout(context.Background(), produceTimeout)
	defer cancel()
	if rng.IntN(3) == 0 {
		return p.transact(ctx, rng, rng.IntN(3) > 0)
	}
	rs := p.records(rng, 20)
	if err := p.plain.ProduceSync(ctx, rs...).FirstErr(); err != nil {
		return fmt.Errorf("chaos: producing: %w", err)
	}
	p.tell(rs, visible)
	return nil
}

// begin begins a transaction. A client that could not get its producer ID, which
// a broker that starts may keep from it, is of no more use. Another one does
// what the test is not about.
func (p *producer) begin(ctx context.Context) error {
	for {
		err := p.txn.BeginTransaction()
		if err == nil || ctx.Err() != nil {
			return err
		}
		another, failed := p.again()
		if failed != nil {
			return failed
		}
		p.txn.Close()
		p.txn = another
		time.Sleep(20 * time.Millisecond)
	}
}

// transact leaves a marker behind the records of every partition.
func (p *producer) transact(ctx context.Context, rng *rand.Rand, commit bool) error {
	if err := p.begin(ctx); err != nil {
		return fmt.Errorf("chaos: beginning a transaction: %w", err)
	}
	rs := p.records(rng, 10)
	if err := p.txn.ProduceSync(ctx, rs...).FirstErr(); err != nil {
		return fmt.Errorf("chaos: producing in a transaction: %w", err)
	}
	k := visible
	if !commit {
		k = hidden
		// The records are in the log before they are taken back.
		if err := p.txn.Flush(ctx); err != nil {
			return fmt.Errorf("chaos: flushing: %w", err)
		}
	}
	if err := p.txn.EndTransaction(ctx, kgo.TransactionEndTry(commit)); err != nil {
		return fmt.Errorf("chaos: ending a transaction: %w", err)
	}
	p.tell(rs, k)
	last := map[int32]int64{}
	for _, r := range rs {
		last[r.Partition] = max(last[r.Partition], r.Offset)
	}
	for part, offset := range last {
		p.o.produced(part, offset+1, hidden, nil) // nobody else produces
	}
	return nil
}

func (p *producer) tell(rs []*kgo.Record, k kind) {
	for _, r := range rs {
		p.o.produced(r.Partition, r.Offset, k, r.Value)
	}
}
