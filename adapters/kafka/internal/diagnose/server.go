package diagnose

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/tidemark-go/tidemark/core/live"
	"github.com/tidemark-go/tidemark/core/timing"
)

// The paths that a server answers, besides the list of them.
const (
	livePath    = "/live"
	pagesPath   = "/barriers"
	openPath    = "/barriers/open"
	metricsPath = "/metrics"
)

// Handler serves the list of its pages and these pages.
func (d *Diagnostics) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle(livePath, live.Handler(live.Config{Title: "Tidemark demo", Snapshot: d.snapshot, Name: d.name, Ledger: d.ledger}))
	mux.Handle(pagesPath, timing.Handler(d, d.ledger))
	mux.HandleFunc("GET "+openPath, d.serveOpen)
	mux.Handle("GET "+metricsPath, promhttp.HandlerFor(d.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /{$}", d.serveIndex)
	return mux
}

// openPage is what the page of open barriers says.
type openPage struct {
	// Process is null before the source is open.
	Process *timing.ProcessIdentity `json:"process"`
	// Open are the open barriers, the oldest first; Unlisted counts more.
	Open     []timing.OpenGuard `json:"open"`
	Unlisted int                `json:"unlisted"`
}

func (d *Diagnostics) serveOpen(w http.ResponseWriter, _ *http.Request) {
	page := openPage{Open: []timing.OpenGuard{}}
	if id, err := d.LiveProcessIdentity(); err == nil {
		page.Process = &id
	}
	open, unlisted := d.ledger.OpenGuards()
	page.Open, page.Unlisted = append(page.Open, open...), unlisted
	text, err := json.Marshal(page)
	if err != nil {
		panic(fmt.Sprintf("diagnose: cannot marshal open barriers: %v", err))
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(append(text, '\n')) // a client that is gone is no concern
}

// serveIndex says what there is, and how to ask for the next page: that takes
// the identity of the process, which a page has, but an error has not.
func (d *Diagnostics) serveIndex(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	fmt.Fprintf(w, "%-15s for people: partitions, what holds them back, barriers; updates itself\n", livePath)
	fmt.Fprintf(w, "%-15s barriers that ended, oldest first: ?limit=1 to %d, and ?after= with the process below\n", pagesPath, timing.MaxPageRecords)
	fmt.Fprintf(w, "%-15s barriers that have begun and not ended, with their age\n", openPath)
	fmt.Fprintf(w, "%-15s for Prometheus\n\n", metricsPath)
	id, err := d.LiveProcessIdentity()
	if err != nil {
		fmt.Fprintln(w, err)
		return
	}
	fmt.Fprintf(w, "This process: node_id=%d&boot_incarnation=%s&process_term=%d\n", id.Participant.NodeID, id.Participant.BootIncarnation, id.ProcessTerm)
}

// Server serves a Handler until it is closed.
type Server struct {
	http http.Server
	addr net.Addr
	done chan struct{}
}

const (
	// headerTimeout bounds how long a client may take for its request.
	headerTimeout = 5 * time.Second
	// closeTimeout bounds how long Close waits for answers under way.
	closeTimeout = 2 * time.Second
)

// Listen serves on host:port; port 0 is a free one.
func (d *Diagnostics) Listen(addr string, log *slog.Logger) (*Server, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("diagnose: cannot serve on %s: %w; name a free port of this machine, or 127.0.0.1:0 for any", addr, err)
	}
	s := &Server{
		http: http.Server{
			Handler:           d.Handler(),
			ReadHeaderTimeout: headerTimeout,
			ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		},
		addr: l.Addr(),
		done: make(chan struct{}),
	}
	go func() {
		defer close(s.done)
		if err := s.http.Serve(l); err != http.ErrServerClosed {
			log.Error("diagnose: serving ended", "addr", addr, "err", err)
		}
	}()
	return s, nil
}

// URLs are the pages of the server.
func (s *Server) URLs() []string {
	at := s.addr.String()
	if a, ok := s.addr.(*net.TCPAddr); ok && a.IP.IsUnspecified() {
		at = fmt.Sprintf("localhost:%d", a.Port)
	}
	var urls []string
	for _, path := range []string{livePath, pagesPath, openPath, metricsPath} {
		urls = append(urls, "http://"+at+path)
	}
	return urls
}

// Close waits a moment for answers under way, and returns when nothing is
// served any more.
func (s *Server) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close() // what is still under way is cut off
	}
	<-s.done
}
