package producer

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tidemark-go/tidemark/adapters/kafka/internal/lines"
)

// isComplete says whether every partition has as many records as it has
// lines. Records that retention took away still count: they were there.
func isComplete(ends kadm.ListedOffsets, topic string, total int64, partitions int32) bool {
	for p := range partitions {
		end, ok := ends.Lookup(topic, p)
		if !ok || end.Offset != share(total, p, partitions) {
			return false
		}
	}
	return true
}

// scan reads the keys of the topic and returns the lines it holds. It relies
// on nothing but the records themselves: not on their order, not on their
// number, so neither a batch that a crash doubled nor one that a broker
// refused can make a line go missing.
func scan(ctx context.Context, opts []kgo.Opt, topic string, starts, ends kadm.ListedOffsets, total int64) (*lines.Set, error) {
	set := lines.NewSet(total)
	left := map[int32]int64{} // partition to end offset
	from := map[int32]kgo.Offset{}
	ends.Each(func(end kadm.ListedOffset) {
		start, _ := starts.Lookup(topic, end.Partition)
		if start.Offset < end.Offset {
			left[end.Partition] = end.Offset
			from[end.Partition] = kgo.NewOffset().At(start.Offset)
		}
	})
	if len(left) == 0 {
		return set, nil
	}
	cl, err := kgo.NewClient(append(opts[:len(opts):len(opts)],
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}),
		kgo.KeepControlRecords(), // they have offsets too, and may be the last
		kgo.FetchMaxBytes(fetchBytes), kgo.FetchMaxPartitionBytes(fetchBytes))...)
	if err != nil {
		return nil, fmt.Errorf("producer: reading back %s: %w", topic, err)
	}
	defer cl.Close()
	for len(left) > 0 {
		fetches := cl.PollFetches(ctx)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if errs := fetches.Errors(); len(errs) > 0 {
			return nil, fmt.Errorf("producer: reading back %s, partition %d: %w", topic, errs[0].Partition, errs[0].Err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if line, ok := LineOf(r); ok {
				set.Add(line)
			}
			if end, ok := left[r.Partition]; ok && r.Offset >= end-1 {
				delete(left, r.Partition)
			}
		})
	}
	return set, nil
}
