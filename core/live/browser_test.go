package live_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// A browser opens a page of the test's own server that holds the page under
// test in a frame. Its script asks the test what to do, does it in the frame
// and answers, until the test ends: so the test needs no protocol of a
// browser, and what it looks at is the page as it is served.
const cockpit = `<!DOCTYPE html><body><iframe id="frame" width="1280" height="900"></iframe><script>
const frame = document.getElementById("frame"), Work = (async () => {}).constructor;
const until = async (what) => { for (let i = 0; i < 600; i++) { const v = what(); if (v) return v; await new Promise((r) => setTimeout(r, 50)); } return false; };
const open = (path, width) => new Promise((r) => { frame.width = width; frame.onload = () => r(); frame.src = path; });
const $ = (q) => frame.contentDocument.querySelector(q), $$ = (q) => Array.from(frame.contentDocument.querySelectorAll(q));
(async () => {
	let result = "";
	for (;;) {
		const work = await (await fetch("/cockpit/next", { method: "POST", body: result })).text();
		try { result = JSON.stringify(await new Work("open", "until", "$", "$$", "frame", work)(open, until, $, $$, frame)) || "null"; }
		catch (err) { result = JSON.stringify({ problem: String(err.stack || err) }); }
	}
})();
</script>`

// pilot flies the cockpit.
type pilot struct {
	t       *testing.T
	work    chan string
	results chan string
	console *lockedBuffer
}

type lockedBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// complaints returns what the browser's console said.
func (b *lockedBuffer) complaints() (lines []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for line := range strings.Lines(b.text.String()) {
		if strings.Contains(line, "CONSOLE") {
			lines = append(lines, line)
		}
	}
	return lines
}

// browser returns the Chromium of this machine, or "".
func browser() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// fly starts a browser on a server that has the pages and the cockpit.
func fly(t *testing.T, program string, pages http.Handler) *pilot {
	p := &pilot{t: t, work: make(chan string), results: make(chan string), console: new(lockedBuffer)}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	mux := http.NewServeMux()
	mux.Handle("/", pages)
	mux.HandleFunc("GET /cockpit", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, cockpit) })
	mux.HandleFunc("POST /cockpit/next", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if len(body) > 0 {
			select {
			case p.results <- string(body):
			case <-ctx.Done():
				return
			}
		}
		select {
		case work := <-p.work:
			_, _ = io.WriteString(w, work)
		case <-ctx.Done():
		}
	})
	server := httptest.NewServer(mux)
	profile, err := os.MkdirTemp("", "live")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--enable-logging=stderr",
		"--user-data-dir="+profile, "--remote-debugging-port=0", "--window-size=1400,1000", server.URL+"/cockpit")
	cmd.Stderr = p.console
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel() // ends the browser, whose exit code is of no interest then
		_ = cmd.Wait()
		server.CloseClientConnections()
		server.Close()
		_ = os.RemoveAll(profile) // its children may still write; what is left does not matter
	})
	return p
}

// do has the browser run a function body and decodes what it returns.
func (p *pilot) do(into any, format string, args ...any) {
	p.t.Helper()
	work := fmt.Sprintf(format, args...)
	deadline := time.After(time.Minute)
	select {
	case p.work <- work:
	case <-deadline:
		p.t.Fatalf("the browser does not ask for work\n%s", p.console.complaints())
	}
	select {
	case result := <-p.results:
		var problem struct{ Problem string }
		if json.Unmarshal([]byte(result), &problem) == nil && problem.Problem != "" {
			p.t.Fatalf("%s\n%s", work, problem.Problem)
		}
		if err := json.Unmarshal([]byte(result), into); err != nil {
			p.t.Fatalf("%s\nanswered %s: %v", work, result, err)
		}
	case <-deadline:
		p.t.Fatalf("no answer to\n%s\n%s", work, p.console.complaints())
	}
}

// check fails unless the browser finds that something is true, or becomes true
// within half a minute.
func (p *pilot) check(what, condition string) {
	p.t.Helper()
	var ok any
	if p.do(&ok, "return await until(() => %s) ? true : $('main').innerText", condition); ok != true {
		p.t.Fatalf("not so: %s\n%v", what, ok)
	}
}
