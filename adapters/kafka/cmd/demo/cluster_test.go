package main

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A cluster without groups makes the topic of their offsets when the first one
// is asked for, and has no coordinator until then.
func TestQuestionsAreAskedAgainWhileTheClusterGetsReady(t *testing.T) {
	broker, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(2, "in"))
	if err != nil {
		t.Fatal(err)
	}
	defer broker.Close()
	c, err := connect(t.Context(), options{brokers: broker.ListenAddrs()}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	none := broker.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetFetch}, Group: "group", TopLevel: true, Err: kerr.CoordinatorNotAvailable, Count: 30})
	load := broker.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}, Topic: "in", Err: kerr.LeaderNotAvailable, Count: 2})
	ends, committed, err := c.offsets(t.Context(), "in", "group")
	if err != nil {
		t.Fatal(err)
	}
	want := map[int32]int64{0: 0, 1: 0}
	if !maps.Equal(ends, want) || len(committed) > 0 && !maps.Equal(committed, want) || none.Hits() == 0 || load.Hits() == 0 {
		t.Fatalf("ends %v, committed %v; %d and %d refusals", ends, committed, none.Hits(), load.Hits())
	}
}

func TestAQuestionThatFailsForGoodIsAskedOnce(t *testing.T) {
	asked := 0
	// The time is over with the second question.
	ask := func(answer error) error {
		asked = 0
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		return askAgain(ctx, func() error {
			if asked++; asked == 2 {
				cancel()
			}
			return answer
		})
	}
	if err := ask(kerr.GroupAuthorizationFailed); !errors.Is(err, kerr.GroupAuthorizationFailed) || asked != 1 {
		t.Fatalf("%v after %d questions, want the answer to the first", err, asked)
	}
	if err := ask(kerr.CoordinatorNotAvailable); !errors.Is(err, kerr.CoordinatorNotAvailable) || asked < 2 {
		t.Fatalf("%v after %d questions, want several within the time", err, asked)
	}
}
