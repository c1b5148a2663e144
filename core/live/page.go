package live

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html"
	"strings"
)

var (
	//go:embed page/page.html
	document string
	//go:embed page/style.css
	style string
	//go:embed page/script.js
	script string
)

// policy lets the page run its own script, use its own style and ask where it
// comes from, and nothing else.
var policy = "default-src 'none'; script-src " + digest(script) + "; style-src " + digest(style) +
	"; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

// digest is how a policy names a text of the page.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// pageOf returns the page in one piece.
func pageOf(title string) []byte {
	return []byte(strings.NewReplacer(
		"<title></title>", "<title>"+html.EscapeString(title)+"</title>",
		"<h1></h1>", "<h1>"+html.EscapeString(title)+"</h1>",
		"<style></style>", "<style>"+style+"</style>",
		"<script></script>", "<script>"+script+"</script>",
	).Replace(document))
}
