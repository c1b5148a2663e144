package main

import (
	"context"
	"io"
	"log/slog"

	"github.com/tidemark-go/tidemark/adapters/kafka/internal/broker"
)

// serveBroker runs the broker alone until the context ends.
func serveBroker(ctx context.Context, o options, out io.Writer, log *slog.Logger) error {
	b, err := broker.Start(broker.Config{Dir: o.data, Listen: o.listen, Logger: log})
	if err != nil {
		return err
	}
	fprintf(out, "broker on %s, data in %s; stop it with Ctrl-C", b.Addr(), o.data)
	<-ctx.Done()
	if err := b.Close(); err != nil {
		return err
	}
	fprintf(out, "broker stopped; its data stays in %s", o.data)
	return nil
}
