package broker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"

	"github.com/tidemark-go/tidemark/adapters/kafka/internal/lockfile"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, cfg Config) *Broker {
	t.Helper()
	b, err := Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// startAgain starts a broker where another one was. The last connections of that
// one may take a moment to go, and somebody else may have got the port.
func startAgain(t *testing.T, cfg Config) *Broker {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		b, err := Start(cfg)
		if err == nil {
			return b
		}
		if !errors.Is(err, syscall.EADDRINUSE) || time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// with runs do with a client of the broker.
func with(t *testing.T, b *Broker, do func(ctx context.Context, cl *kgo.Client, adm *kadm.Client)) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(b.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	do(ctx, cl, kadm.NewClient(cl))
}

// fill creates a topic with one record and commits it for a group.
func fill(t *testing.T, b *Broker, topic string, at int64) {
	t.Helper()
	with(t, b, func(ctx context.Context, cl *kgo.Client, adm *kadm.Client) {
		if _, err := adm.CreateTopic(ctx, 1, 1, nil, topic); err != nil {
			t.Fatal(err)
		}
		commit(ctx, t, cl, adm, topic, at)
	})
}

func commit(ctx context.Context, t *testing.T, cl *kgo.Client, adm *kadm.Client, topic string, at int64) {
	t.Helper()
	if err := cl.ProduceSync(ctx, &kgo.Record{Topic: topic, Value: []byte("x")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	offsets := kadm.Offsets{}
	offsets.AddOffset(topic, 0, at, -1)
	if err := adm.CommitAllOffsets(ctx, "g", offsets); err != nil {
		t.Fatal(err)
	}
}

func expect(t *testing.T, b *Broker, topic string, end, committed int64) {
	t.Helper()
	with(t, b, func(ctx context.Context, _ *kgo.Client, adm *kadm.Client) {
		ends, err := adm.ListEndOffsets(ctx, topic)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := ends.Lookup(topic, 0); got.Offset != end {
			t.Errorf("the log ends at %d, want %d", got.Offset, end)
		}
		offsets, err := adm.FetchOffsets(ctx, "g")
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := offsets.Lookup(topic, 0); got.At != committed {
			t.Errorf("committed up to %d, want %d", got.At, committed)
		}
	})
}

func TestABrokerKeepsWhatItHadAndItsAddress(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "yet", "there")
	b := start(t, Config{Dir: dir})
	addr := b.Addr()
	fill(t, b, "kept", 1)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b = startAgain(t, Config{Dir: dir, Listen: addr})
	defer b.Close()
	if b.Addr() != addr {
		t.Errorf("listens on %s, want %s", b.Addr(), addr)
	}
	expect(t, b, "kept", 1, 1)
}

func TestADirectoryBelongsToOneBroker(t *testing.T) {
	dir := t.TempDir()
	b := start(t, Config{Dir: dir})
	defer b.Close()
	if _, err := Start(Config{Dir: dir}); !errors.Is(err, lockfile.ErrHeld) || !strings.Contains(err.Error(), dir) {
		t.Errorf("second broker: %v, want ErrHeld with the directory", err)
	}
}

func TestStartSaysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	b := start(t, Config{Dir: filepath.Join(dir, "a")})
	defer b.Close()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for want, cfg := range map[string]Config{
		"address already in use": {Dir: filepath.Join(dir, "b"), Listen: b.Addr()},
		"want host:port":         {Dir: filepath.Join(dir, "c"), Listen: "nonsense"},
		"data directory":         {Dir: file},
	} {
		if _, err := Start(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", cfg, err, want)
		}
	}
}

// A kill may leave half an entry at the end of the offsets' log. What is
// committed after the next start must not be lost behind it.
func TestCommitsAfterAKillSurviveTheNextKill(t *testing.T) {
	dir := t.TempDir()
	b := start(t, Config{Dir: dir})
	fill(t, b, "t", 1)
	dir = killed(t, dir)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "groups.log")
	text, err := os.ReadFile(log)
	if err != nil || len(text) == 0 {
		t.Fatalf("%d bytes of offsets, %v", len(text), err)
	}
	if err := os.WriteFile(log, append(text, text[:7]...), 0o644); err != nil {
		t.Fatal(err)
	}

	b = start(t, Config{Dir: dir})
	with(t, b, func(ctx context.Context, cl *kgo.Client, adm *kadm.Client) { commit(ctx, t, cl, adm, "t", 2) })
	dir = killed(t, dir)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b = start(t, Config{Dir: dir})
	defer b.Close()
	expect(t, b, "t", 2, 2)
}

// killed copies the directory of a running broker: what a kill at this moment
// would leave behind.
func killed(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}
