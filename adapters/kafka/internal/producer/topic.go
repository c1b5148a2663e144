// Package producer brings the lines of an input into a topic, each line once,
// also when it is killed on the way and started again.
//
// The line's number is the record's key, in decimal. Line n goes to partition
// (n-1) mod partitions, so every partition's share is known beforehand.
package producer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

// ErrTopic is a topic that cannot take the lines.
var ErrTopic = errors.New("producer: topic")

// ensureTopic creates the topic, or checks the one that is there.
func ensureTopic(ctx context.Context, adm *kadm.Client, topic string, partitions int32) error {
	created, err := adm.CreateTopic(ctx, partitions, -1, nil, topic)
	if err != nil && created.Err == nil {
		return fmt.Errorf("%w %s: creating it: %w", ErrTopic, topic, err)
	}
	switch {
	case created.Err == nil, errors.Is(created.Err, kerr.TopicAlreadyExists):
	case errors.Is(created.Err, kerr.TopicAuthorizationFailed), errors.Is(created.Err, kerr.ClusterAuthorizationFailed):
		// It may be there all the same, made by someone who may.
		if details, err := adm.ListTopics(ctx, topic); err != nil || !details.Has(topic) {
			return fmt.Errorf("%w %s: creating it: %w; have it created with %d partitions, then run again", ErrTopic, topic, created.Err, partitions)
		}
	default:
		return fmt.Errorf("%w %s: creating it with %d partitions: %w", ErrTopic, topic, partitions, created.Err)
	}
	return awaitTopic(ctx, adm, topic, partitions)
}

// awaitTopic waits until every partition has a leader: a fresh topic is known
// before it can be used.
func awaitTopic(ctx context.Context, adm *kadm.Client, topic string, partitions int32) error {
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		details, err := adm.ListTopics(ctx, topic)
		if err != nil {
			return fmt.Errorf("%w %s: looking it up: %w", ErrTopic, topic, err)
		}
		detail := details[topic]
		if detail.Err == nil && len(detail.Partitions) != int(partitions) && len(detail.Partitions) > 0 {
			return fmt.Errorf("%w %s: it has %d partitions, want %d; ask for that many, or delete the topic",
				ErrTopic, topic, len(detail.Partitions), partitions)
		}
		ready := detail.Err == nil && len(detail.Partitions) == int(partitions)
		for _, p := range detail.Partitions {
			ready = ready && p.Err == nil && p.Leader >= 0
		}
		if ready {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w %s: waiting for its leaders: %w", ErrTopic, topic, context.Cause(ctx))
		case <-time.After(wait):
		}
	}
}

// share is how many of the lines belong to a partition.
func share(lines int64, partition, partitions int32) int64 {
	return (lines - int64(partition) + int64(partitions) - 1) / int64(partitions)
}

// partitionOf says where a line, counted from 1, belongs.
func partitionOf(line int64, partitions int32) int32 {
	return int32((line - 1) % int64(partitions))
}
