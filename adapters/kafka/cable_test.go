package kafka_test

import (
	"context"
	"errors"
	"net"
	"sync"
)

// cable is a member's network, which can be unplugged: the member goes on
// without knowing that the group goes on without it.
type cable struct {
	mu    sync.Mutex
	out   bool
	conns []net.Conn
}

func (w *cable) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	w.mu.Lock()
	out := w.out
	w.mu.Unlock()
	if out {
		return nil, errors.New("unplugged")
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, addr)
	if err == nil {
		w.mu.Lock()
		w.conns = append(w.conns, conn)
		w.mu.Unlock()
	}
	return conn, err
}

func (w *cable) unplug() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out = true
	for _, c := range w.conns {
		_ = c.Close()
	}
	w.conns = nil
}

func (w *cable) plug() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out = false
}
