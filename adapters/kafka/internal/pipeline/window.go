package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	kafka "github.com/tidemark-go/tidemark/adapters/kafka"
)

const (
	// lookEvery is how often a full window looks for a commit.
	lookEvery = time.Millisecond
	// lastLook is how long it goes on looking after the context ended.
	lastLook = 5 * time.Second
)

var (
	// errWindow fails a batch that would have to be written although too much
	// is not committed.
	errWindow = errors.New("pipeline: too much is not committed")
	// errGone fails a batch whose partition was taken away while it waited, or
	// taken away and given back.
	errGone = errors.New("pipeline: the partition is no longer owned as it was")
)

// window bounds, partition by partition, how far the pipeline works ahead of
// the commits. Whatever is ahead of them at a crash is delivered again, so
// this is the bound of what is repeated. The source's pending limit alone is
// none: acknowledged batches are not pending, and not committed either until
// the broker said so.
type window struct {
	src   Source
	limit int64 // in offsets; 0 is none
	// from is the commit of each partition as of the last look, or where
	// reading began if it has none.
	from map[int32]int64
}

// wait returns nil when the batch fits into the window of its partition. It
// returns errGone if the partition was taken away meanwhile: the batch is
// delivered again, its Ack no longer counts, and to write it would only add to
// what is repeated. To wait for a commit would be in vain, also if the partition
// is back: commits go on from where it is read now, by whoever waits here.
func (w *window) wait(ctx context.Context, b kafka.Batch) error {
	if w.limit == 0 {
		return nil
	}
	first, last := b.Records[0].Offset, b.Records[len(b.Records)-1].Offset
	if from, ok := w.from[b.Partition]; !ok || first < from {
		w.from[b.Partition] = first
	}
	var giveUp time.Time
	for last-w.from[b.Partition] >= w.limit {
		committed, owned := w.look(b)
		if !owned {
			return errGone
		}
		if committed > w.from[b.Partition] {
			w.from[b.Partition] = committed
			continue
		}
		if ctx.Err() != nil && giveUp.IsZero() {
			giveUp = time.Now().Add(lastLook)
		}
		if !giveUp.IsZero() && time.Now().After(giveUp) {
			return fmt.Errorf("%w: partition %d is read up to offset %d and committed up to %d", errWindow, b.Partition, last+1, committed)
		}
		time.Sleep(lookEvery)
	}
	return nil
}

func (w *window) look(b kafka.Batch) (committed int64, owned bool) {
	for _, p := range w.src.Stats().Partitions {
		if p.Partition == b.Partition && p.Topic == b.Topic {
			return p.Committed, p.Ownership == b.Ownership
		}
	}
	return 0, false
}
