package console

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"
)

// repeatAfter is how long a message keeps quiet after it was logged. A client
// that cannot reach its broker says so many times a second.
const repeatAfter = 2 * time.Second

// NewLogger logs to w as text, and every message at most once in a while.
// Errors of one message differ in details only, so the message alone decides.
func NewLogger(w io.Writer, level slog.Level) *slog.Logger {
	text := slog.NewTextHandler(w, &slog.HandlerOptions{Level: level})
	return slog.New(&calm{Handler: text, last: &lastLogged{at: map[string]time.Time{}}})
}

// calm drops what was logged a moment ago.
type calm struct {
	slog.Handler
	last *lastLogged
}

type lastLogged struct {
	mu sync.Mutex
	at map[string]time.Time
}

// Handle is part of slog.Handler.
func (c *calm) Handle(ctx context.Context, r slog.Record) error {
	if c.last.recent(r.Message, r.Time) {
		return nil
	}
	return c.Handler.Handle(ctx, r)
}

// WithAttrs is part of slog.Handler.
func (c *calm) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &calm{Handler: c.Handler.WithAttrs(attrs), last: c.last}
}

// WithGroup is part of slog.Handler.
func (c *calm) WithGroup(name string) slog.Handler {
	return &calm{Handler: c.Handler.WithGroup(name), last: c.last}
}

func (l *lastLogged) recent(message string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at, ok := l.at[message]; ok && now.Sub(at) < repeatAfter {
		return true
	}
	l.at[message] = now
	return false
}
