package page

import (
	"context"
	"encoding/json"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-go/tidemark/internal/longtest"
)

// watch notes what goes wrong before anything else of the page runs.
const watch = `<script>
window.problems = [];
addEventListener("error", function (e) { problems.push(e.message); });
addEventListener("securitypolicyviolation", function (e) { problems.push(e.violatedDirective + " " + e.blockedURI); });
</script>`

// probe measures the page, uses its filter and its sorting, and leaves what it
// found in the document.
const probe = `<script>
(function () {
	document.querySelectorAll("details").forEach(function (d) { d.open = true; });
	var root = document.documentElement, charts = Array.from(document.querySelectorAll("svg.chart"));
	var found = { scroll: root.scrollWidth, width: root.clientWidth, charts: charts.length, rows: document.querySelectorAll("tr[data-row]").length };
	found.flat = charts.filter(function (c) { var b = c.getBoundingClientRect(); return b.width < 300 || b.height < 40; }).length;
	found.outside = charts.filter(function (c) {
		var frame = c.getBoundingClientRect();
		return Array.from(c.querySelectorAll("text")).some(function (t) {
			var b = t.getBoundingClientRect();
			return b.left < frame.left - 1 || b.right > frame.right + 1 || b.bottom > frame.bottom + 1;
		});
	}).map(function (c) { return c.querySelector("title").textContent; });
	found.wide = Array.from(document.querySelectorAll(".wide")).filter(function (e) { return e.scrollWidth > e.clientWidth; }).length;
	var box = document.querySelector("nav input[value=slower]");
	if (box) {
		box.checked = false;
		box.dispatchEvent(new Event("change"));
		found.hidden = document.querySelectorAll("tr.hidden").length;
		box.checked = true;
		box.dispatchEvent(new Event("change"));
	}
	var th = document.querySelector("th[data-sort=number]");
	if (th) {
		th.click();
		var keys = Array.from(th.closest("table").tBodies[0].rows).map(function (r) { return Number(r.cells[th.cellIndex].dataset.key); });
		found.sorted = keys.every(function (k, i) { return !i || !(keys[i - 1] > k); });
	}
	found.problems = window.problems;
	root.setAttribute("data-found", JSON.stringify(found));
})();
</script>`

// found is what the probe reports.
type found struct {
	Scroll, Width, Charts, Flat, Wide, Rows, Hidden int
	Outside, Problems                               []string
	Sorted                                          bool
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

// open lets a browser run a page in a window 1280 pixels wide, and returns
// what the probe found and the console's messages.
func open(t *testing.T, program, page string) (found, string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "page")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir) // the browser may still write; what is left does not matter
	page = strings.Replace(page, `<meta name="viewport"`, watch+`<meta name="viewport"`, 1)
	page = strings.Replace(page, "</body>", probe+"</body>", 1)
	path := filepath.Join(dir, "page.html")
	if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--enable-logging=stderr",
		"--user-data-dir="+filepath.Join(dir, "profile"), "--window-size=1280,900", "--dump-dom", "file://"+path)
	cmd.WaitDelay = 5 * time.Second
	var console strings.Builder
	cmd.Stderr = &console
	dom, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, console.String())
	}
	m := regexp.MustCompile(`data-found="([^"]*)"`).FindStringSubmatch(string(dom))
	if m == nil {
		t.Fatalf("the probe did not run:\n%s", console.String())
	}
	var f found
	if err := json.Unmarshal([]byte(html.UnescapeString(m[1])), &f); err != nil {
		t.Fatal(err)
	}
	var messages []string
	for line := range strings.Lines(console.String()) {
		if strings.Contains(line, "CONSOLE") {
			messages = append(messages, line)
		}
	}
	return f, strings.Join(messages, "")
}

// TestPagesInABrowser opens every kind of page in headless Chromium where one
// is installed. What can be told without one is checked everywhere.
func TestPagesInABrowser(t *testing.T) {
	if longtest.LeftOut(t, "a browser reads the same page everywhere") {
		return
	}
	program := browser()
	all := pages(t)
	for name, page := range all {
		t.Run(name, func(t *testing.T) {
			charts, rows := len(svg.FindAllString(page, -1)), strings.Count(page, "<tr data-row=")+strings.Count(page, `" data-row="`)
			if strings.Count(page, "viewBox=") != charts || strings.Count(page, "<svg ") != charts || !strings.HasPrefix(page, "<!DOCTYPE html>") {
				t.Errorf("%d charts, not all of them have a size", charts)
			}
			if program == "" {
				t.Log("no Chromium here: the page is not opened")
				return
			}
			f, console := open(t, program, page)
			if console != "" || len(f.Problems) > 0 {
				t.Errorf("the browser complains: %s %q", console, f.Problems)
			}
			if f.Scroll > f.Width || f.Wide > 0 || f.Width < 1200 {
				t.Errorf("%d pixels in a window of %d, %d tables that scroll", f.Scroll, f.Width, f.Wide)
			}
			if f.Charts != charts || f.Flat > 0 {
				t.Errorf("%d of %d charts, %d without a size", f.Charts, charts, f.Flat)
			}
			if len(f.Outside) > 0 {
				t.Errorf("texts leave their charts: %q", f.Outside)
			}
			if f.Rows != rows || f.Hidden != strings.Count(page, `data-row="slower"`) || !f.Sorted {
				t.Errorf("%d of %d rows, %d hidden by the filter, sorted: %v", f.Rows, rows, f.Hidden, f.Sorted)
			}
		})
	}
}
