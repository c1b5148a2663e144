package doccheck

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// mdDoc is what the checks need of one Markdown file.
type mdDoc struct {
	path    string
	blocks  []mdText        // fenced blocks, with the word after the fence
	spans   []mdText        // inline code
	links   []mdText        // link and image targets
	anchors map[string]bool // what a "#fragment" can name
}

// mdText is a piece of a document and the line it starts on.
type mdText struct {
	line int
	lang string
	text string
}

var (
	fence      = regexp.MustCompile("^\\s*(```+|~~~+)\\s*([^\\s`]*)")
	heading    = regexp.MustCompile(`^#{1,6}\s+(.*?)\s*#*$`)
	codeSpan   = regexp.MustCompile("`([^`]+)`")
	linkInline = regexp.MustCompile(`\]\(<?([^)\s>]+)>?[^)]*\)`)
	linkRef    = regexp.MustCompile(`(?m)^\s{0,3}\[[^\]]+\]:\s+<?([^\s>]+)`)
	linkHTML   = regexp.MustCompile(`(?:href|src)="([^"]+)"`)
	htmlAnchor = regexp.MustCompile(`(?:id|name)="([^"]+)"`)
)

// parseMarkdown splits a document into fenced blocks and prose. Prose keeps
// its line numbers because the lines of fenced blocks are blanked in it.
func parseMarkdown(path, text string) *mdDoc {
	d := &mdDoc{path: path, anchors: map[string]bool{}}
	lines := strings.Split(text, "\n")
	open, indent := "", 0
	for i, line := range lines {
		m := fence.FindStringSubmatch(line)
		switch {
		case open == "" && m != nil:
			open = m[1]
			indent = len(line) - len(strings.TrimLeft(line, " \t"))
			d.blocks = append(d.blocks, mdText{line: i + 2, lang: m[2]})
			lines[i] = ""
		case open != "" && m != nil && m[2] == "" && strings.HasPrefix(m[1], open):
			open = ""
			lines[i] = ""
		case open != "":
			b := &d.blocks[len(d.blocks)-1]
			b.text += cutIndent(line, indent) + "\n"
			lines[i] = ""
		default:
			d.addHeading(line)
		}
	}
	d.parseProse(strings.Join(lines, "\n"))
	return d
}

func cutIndent(line string, n int) string {
	for n > 0 && line != "" && (line[0] == ' ' || line[0] == '\t') {
		line = line[1:]
		n--
	}
	return line
}

// addHeading notes the fragment that a heading can be reached by, formed as
// GitHub does it.
func (d *mdDoc) addHeading(line string) {
	m := heading.FindStringSubmatch(line)
	if m == nil {
		return
	}
	slug := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, m[1])
	name := slug
	for n := 1; d.anchors[name]; n++ {
		name = fmt.Sprintf("%s-%d", slug, n)
	}
	d.anchors[name] = true
}

// parseProse finds inline code and links. A code span may break over a line
// but not over a blank one, so it works paragraph by paragraph.
func (d *mdDoc) parseProse(text string) {
	line := 1
	for _, para := range strings.SplitAfter(text, "\n\n") {
		// Offsets in plain are other bytes than in para, but the line breaks
		// before them are the same.
		at := func(text string, offset int) int { return line + strings.Count(text[:offset], "\n") }
		for _, m := range codeSpan.FindAllStringSubmatchIndex(para, -1) {
			span := strings.Join(strings.Fields(para[m[2]:m[3]]), " ")
			d.spans = append(d.spans, mdText{line: at(para, m[2]), text: span})
		}
		plain := codeSpan.ReplaceAllStringFunc(para, func(s string) string {
			return strings.Map(func(r rune) rune {
				if r == '\n' {
					return r
				}
				return ' '
			}, s)
		})
		for _, re := range []*regexp.Regexp{linkInline, linkRef, linkHTML} {
			for _, m := range re.FindAllStringSubmatchIndex(plain, -1) {
				d.links = append(d.links, mdText{line: at(plain, m[2]), text: plain[m[2]:m[3]]})
			}
		}
		for _, m := range htmlAnchor.FindAllStringSubmatch(plain, -1) {
			d.anchors[m[1]] = true
		}
		line += strings.Count(para, "\n")
	}
}

// shellLines returns the lines of the blocks that hold commands, without
// prompts and comments.
func (d *mdDoc) shellLines() []mdText {
	var out []mdText
	for _, b := range d.blocks {
		switch b.lang {
		case "", "sh", "bash", "shell", "console", "text":
		default:
			continue
		}
		for i, l := range strings.Split(b.text, "\n") {
			l = strings.TrimPrefix(strings.TrimSpace(l), "$ ")
			if j := strings.Index(l, " #"); j >= 0 {
				l = l[:j]
			}
			if l != "" && !strings.HasPrefix(l, "#") {
				out = append(out, mdText{line: b.line + i, text: l})
			}
		}
	}
	return out
}
