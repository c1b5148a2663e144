package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tidemark-go/tidemark/adapters/kafka/internal/broker"
)

// pingTimeout bounds how long a cluster may take to answer at the start,
// adminTimeout every question after that.
const (
	pingTimeout  = 8 * time.Second
	adminTimeout = 15 * time.Second
	// firstPause is how long a question waits before it is asked again.
	firstPause = 50 * time.Millisecond
)

// cluster is what the demo talks to: a broker in this process or another one.
type cluster struct {
	seeds []string
	own   *broker.Broker // nil when it is another one
	admin *kadm.Client
}

func connect(ctx context.Context, o options, log *slog.Logger) (*cluster, error) {
	c := &cluster{seeds: o.brokers}
	if len(c.seeds) == 0 {
		own, err := broker.Start(broker.Config{Dir: o.data, Listen: o.listen, Logger: log})
		if err != nil {
			return nil, err
		}
		c.own, c.seeds = own, []string{own.Addr()}
	}
	client, err := kgo.NewClient(c.options()...)
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	c.admin = kadm.NewClient(client)
	ping, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	if err := client.Ping(ping); err != nil && ctx.Err() == nil {
		err = fmt.Errorf("no Kafka broker answers at %v: %w; correct -brokers (BROKERS), or leave it empty for a broker in this process", c.seeds, err)
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// options are what every client connects with.
func (c *cluster) options() []kgo.Opt {
	return []kgo.Opt{kgo.SeedBrokers(c.seeds...), kgo.ClientID("tidemark-demo")}
}

func (c *cluster) close() error {
	if c.admin != nil {
		c.admin.Close()
	}
	if c.own != nil {
		return c.own.Close()
	}
	return nil
}

// offsets says, partition by partition, where the log ends and up to where
// the group has committed it; 0 if it never did.
func (c *cluster) offsets(ctx context.Context, topic, group string) (ends, committed map[int32]int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	var listed kadm.ListedOffsets
	err = askAgain(ctx, func() (err error) {
		listed, err = c.admin.ListEndOffsets(ctx, topic)
		return errors.Join(err, listed.Error())
	})
	if err != nil {
		return nil, nil, fmt.Errorf("listing the end of topic %s: %w", topic, err)
	}
	ends = map[int32]int64{}
	listed.Each(func(l kadm.ListedOffset) { ends[l.Partition] = l.Offset })
	committed, err = c.committed(ctx, topic, group)
	return ends, committed, err
}

func (c *cluster) committed(ctx context.Context, topic, group string) (map[int32]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	var fetched kadm.OffsetResponses
	err := askAgain(ctx, func() (err error) {
		fetched, err = c.admin.FetchOffsetsForTopics(ctx, group, topic)
		return errors.Join(err, fetched.Error())
	})
	if errors.Is(err, kerr.GroupIDNotFound) {
		return map[int32]int64{}, nil // it has yet to join and commit
	}
	if err != nil {
		return nil, fmt.Errorf("fetching the offsets of group %s: %w", group, err)
	}
	committed := map[int32]int64{}
	fetched.Each(func(r kadm.OffsetResponse) { committed[r.Partition] = max(r.At, 0) })
	return committed, nil
}

// askAgain repeats a question while the answer is one that passes. A cluster
// that has had no group yet says for a moment that it has no coordinator, and
// the client does not ask again for everything.
func askAgain(ctx context.Context, ask func() error) error {
	for pause := firstPause; ; pause = min(2*pause, time.Second) {
		err := ask()
		if err == nil || !passes(err) {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}

func passes(err error) bool {
	var answer *kerr.Error
	return errors.As(err, &answer) && answer.Retriable
}

// leave takes a static member out of its group, which would otherwise wait
// for it to come back.
func (c *cluster) leave(ctx context.Context, group, instance string) error {
	ctx, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	left, err := c.admin.LeaveGroup(ctx, kadm.LeaveGroup(group).InstanceIDs(instance).Reason("finished"))
	if err = errors.Join(err, left.Error()); err != nil {
		return fmt.Errorf("leaving group %s: %w", group, err)
	}
	return nil
}
