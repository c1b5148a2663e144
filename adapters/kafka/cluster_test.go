package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tidemark-go/tidemark/adapters/kafka/internal/brokertest"
)

// cluster is a broker for one test.
//
// Tests that call newBroker ask nothing of it that a real one cannot do, and
// run on one where there is one. Tests that call newCluster need a broker in
// their own process: one that fails, or holds an answer back, on request.
type cluster struct {
	*kfake.Cluster // nil: a real broker
	addrs          []string
	admin          *kadm.Client
	// in, other and group are names that belong to this test.
	in, other, group string
}

// newCluster starts a broker in this process.
func newCluster(t testing.TB, opts ...kfake.Opt) *cluster {
	t.Helper()
	opts = append([]kfake.Opt{
		kfake.NumBrokers(1),
		kfake.GroupMinSessionTimeout(100 * time.Millisecond),
		kfake.BrokerConfigs(map[string]string{ // of KIP848 groups, where the broker decides
			"group.consumer.heartbeat.interval.ms": "50",
			"group.consumer.session.timeout.ms":    strconv.Itoa(int(4 * patience.Milliseconds())),
		}),
	}, opts...)
	c, err := kfake.NewCluster(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return &cluster{Cluster: c, addrs: c.ListenAddrs(), in: "in", other: "other", group: "group"}
}

// shortSession lets a KIP848 group forget a dead member soon, as the settings of
// a real broker for these tests do.
func shortSession() kfake.Opt {
	return kfake.BrokerConfigs(map[string]string{"group.consumer.session.timeout.ms": "3000"})
}

// newBroker returns a broker, real if there is one, with the topic in of so
// many partitions; none if that is 0. The options are for the one in this
// process.
func newBroker(t testing.TB, partitions int32, opts ...kfake.Opt) *cluster {
	t.Helper()
	c := &cluster{addrs: brokertest.Addrs(), in: brokertest.Unique("in"), other: brokertest.Unique("other"), group: brokertest.Unique("group")}
	if c.addrs == nil {
		c = newCluster(t, opts...)
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.addrs...), kgo.MetadataMinAge(20*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	c.admin = kadm.NewClient(cl)
	if partitions > 0 {
		if err := c.createTopic(c.in, partitions); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func adminContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), patience)
}

// createTopic waits for a topic of the same name that is being deleted.
func (c *cluster) createTopic(topic string, partitions int32) error {
	ctx, cancel := adminContext()
	defer cancel()
	for {
		_, err := c.admin.CreateTopic(ctx, partitions, 1, nil, topic)
		if !errors.Is(err, kerr.TopicAlreadyExists) || ctx.Err() != nil {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// deleteTopic waits until the broker knows that it is gone: a real one goes on
// writing to it until then.
func (c *cluster) deleteTopic(topic string) error {
	ctx, cancel := adminContext()
	defer cancel()
	if _, err := c.admin.DeleteTopic(ctx, topic); err != nil || c.Cluster != nil {
		return err
	}
	for ctx.Err() == nil {
		topics, err := c.admin.ListTopics(ctx, topic)
		if err != nil || !topics.Has(topic) {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
	return ctx.Err()
}

// deleteRecords moves the start of a partition's log.
func (c *cluster) deleteRecords(topic string, partition int32, offset int64) error {
	ctx, cancel := adminContext()
	defer cancel()
	to := kadm.Offsets{}
	to.AddOffset(topic, partition, offset, -1)
	deleted, err := c.admin.DeleteRecords(ctx, to)
	return errors.Join(err, deleted.Error())
}

// logEnd is the offset after the last record or marker.
func (c *cluster) logEnd(t testing.TB, topic string, partition int32) int64 {
	t.Helper()
	ctx, cancel := adminContext()
	defer cancel()
	ends, err := c.admin.ListEndOffsets(ctx, topic)
	if err = errors.Join(err, ends.Error()); err != nil {
		t.Fatal(err)
	}
	end, _ := ends.Lookup(topic, partition)
	return end.Offset
}

// members counts the members of the test's group.
func (c *cluster) members(t testing.TB) int {
	t.Helper()
	if c.Cluster != nil {
		if g := c.GroupInfo(c.group); g != nil {
			return len(g.Members)
		}
		return -1
	}
	ctx, cancel := adminContext()
	defer cancel()
	// A group is of one kind; of the other it is unknown.
	if described, err := c.admin.DescribeGroups(ctx, c.group); err == nil && described[c.group].Err == nil && described[c.group].State != "Dead" {
		return len(described[c.group].Members)
	}
	described, err := c.admin.DescribeConsumerGroups(ctx, c.group)
	if err = errors.Join(err, described[c.group].Err); err != nil {
		t.Fatal(err)
	}
	return len(described[c.group].Members)
}

// committed returns the group's commit, or -1.
func committed(c *cluster, group, topic string, partition int32) int64 {
	offset, _ := commitOf(c, group, topic, partition)
	return offset
}

func commitOf(c *cluster, group, topic string, partition int32) (offset int64, epoch int32) {
	if c.Cluster != nil {
		if g := c.GroupInfo(group); g != nil {
			if gc, ok := g.Commits[topic][partition]; ok {
				return gc.Offset, gc.LeaderEpoch
			}
		}
		return -1, -1
	}
	ctx, cancel := adminContext()
	defer cancel()
	fetched, err := c.admin.FetchOffsetsForTopics(ctx, group, topic)
	// A group or a topic that is new may not be known yet.
	if err = errors.Join(err, fetched.Error()); err != nil && !errors.Is(err, kerr.GroupIDNotFound) && !errors.Is(err, kerr.UnknownTopicOrPartition) {
		panic(fmt.Sprintf("fetching the commits of %s: %v", group, err))
	}
	if o, ok := fetched.Lookup(topic, partition); ok && o.At >= 0 {
		return o.At, o.LeaderEpoch
	}
	return -1, -1
}
