package live_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/tidemark-go/tidemark/core/live"
)

// TestPageRefersToNothingElse reads the page as it is served.
func TestPageRefersToNothingElse(t *testing.T) {
	status, header, page := get(live.Handler(live.Config{Title: `<b>"A" & B</b>`}), http.MethodGet, "/live")
	if status != http.StatusOK || header.Get("Content-Type") != "text/html; charset=utf-8" || header.Get("Referrer-Policy") != "no-referrer" {
		t.Fatalf("status %d, %v", status, header)
	}
	for _, m := range regexp.MustCompile(`(?i)\b(?:src|href|action|data|poster|srcset)\s*=\s*"([^"]*)"|url\(|@import|https?://[^"' ]*|\bimport\b`).FindAllStringSubmatch(page, -1) {
		if m[1] != "data:," && m[0] != "http://www.w3.org/2000/svg" {
			t.Errorf("the page refers to something: %s", m[0])
		}
	}
	if !strings.Contains(page, "<h1>&lt;b&gt;&#34;A&#34; &amp; B&lt;/b&gt;</h1>") || strings.Contains(page, `<b>"A"`) {
		t.Error("the title is not escaped")
	}
	policy := header.Get("Content-Security-Policy")
	for _, part := range []string{"script", "style"} {
		all := regexp.MustCompile(`(?s)<`+part+`>(.*?)</`+part+`>`).FindAllStringSubmatch(page, -1)
		if len(all) != 1 || strings.TrimSpace(all[0][1]) == "" {
			t.Fatalf("%d elements %s, want one", len(all), part)
		}
		sum := sha256.Sum256([]byte(all[0][1]))
		if !strings.Contains(policy, part+"-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"';") {
			t.Errorf("the policy does not allow the %s alone: %s", part, policy)
		}
	}
	for _, part := range []string{"default-src 'none'", "connect-src 'self'", "base-uri 'none'", "form-action 'none'"} {
		if !strings.Contains(policy, part) {
			t.Errorf("the policy lacks %s: %s", part, policy)
		}
	}
	if strings.Contains(policy, "unsafe") || regexp.MustCompile(`\s(on\w+|style)="`).MatchString(page) {
		t.Error("the page needs an unsafe policy")
	}
}

// TestPageHasNamesForEverything: what can be operated or pointed at has a text
// that a screen reader says.
func TestPageHasNamesForEverything(t *testing.T) {
	_, _, page := get(live.Handler(live.Config{}), http.MethodGet, "/")
	for _, m := range regexp.MustCompile(`<(section|input|aside|ul)\b[^>]*>`).FindAllString(page, -1) {
		if !strings.Contains(m, "aria-label") {
			t.Errorf("%s has no name", m)
		}
	}
	for _, m := range regexp.MustCompile(`aria-labelledby="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if !strings.Contains(page, `id="`+m[1]+`"`) {
			t.Errorf("there is no %s", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`\$\("([\w-]+)"\)`).FindAllStringSubmatch(page, -1) {
		if !strings.Contains(page, `id="`+m[1]+`"`) {
			t.Errorf("the script looks for %s", m[1])
		}
	}
	if !strings.Contains(page, `<html lang="en">`) {
		t.Error("the page has no language")
	}
}
