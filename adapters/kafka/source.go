package kafka

import (
	"time"

	"github.com/tidemark-go/tidemark/core/checkpoint"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Batch is a run of consecutive records of one partition. Whoever holds it
// calls Ack.Done exactly once, when every record is delivered (nil) or when
// one cannot be (an error); more holders are added with Ack.Retain.
type Batch struct {
	Topic     string
	Partition int32
	// Records are in offset order, at least one, without control records.
	// They belong to the holder.
	Records []*kgo.Record
	Ack     checkpoint.Ack
	// FetchedAt is when the poll that brought the records returned.
	FetchedAt time.Time
}
