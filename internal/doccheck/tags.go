package doccheck

import (
	"fmt"
	"go/build/constraint"
	"path"
	"slices"
	"strings"
)

// The one build tag of this module, and the directories that may use it.
const exploreTag = "explore"

var tagged = []string{atomicsDir, "internal/explore"}

// platforms are the tags that a platform sets by itself. As a suffix of a
// file's name all but unix act as a constraint too.
var platforms = []string{
	"linux", "darwin", "windows", "freebsd", "unix", "js", "wasip1",
	"amd64", "arm64", "386", "arm", "riscv64", "ppc64le", "s390x", "wasm",
}

// BuildTags reports non-test files that some builds leave out. The module has
// one tag, for the second form of the atomics. The lock-free packages and
// what is below internal compile the same source on every platform; the rest
// may tell platforms apart.
func BuildTags(t *Tree) []Finding {
	var out []Finding
	for _, f := range t.goFiles {
		if f.test {
			continue
		}
		base := strings.TrimSuffix(path.Base(f.path), ".go")
		for _, p := range strings.Split(base, "_")[1:] {
			if onePlatform(f.dir) && p != "unix" && slices.Contains(platforms, p) {
				out = append(out, Finding{f.path, 0, fmt.Sprintf("the suffix _%s leaves this file out of other builds", p)})
			}
		}
		for _, group := range f.ast.Comments {
			if group.Pos() > f.ast.Package {
				break
			}
			for _, c := range group.List {
				if text := tagVerdict(f.dir, c.Text); text != "" {
					out = append(out, Finding{f.path, t.line(c.Pos()), text})
				}
			}
		}
	}
	return sorted(out)
}

// onePlatform says whether the sources in dir must be the same everywhere.
func onePlatform(dir string) bool { return isLockFree(dir) || within(dir, "internal") }

// tagVerdict returns what is wrong with a comment before the package clause,
// or "" when it is no constraint or a legal one.
func tagVerdict(dir, comment string) string {
	if !constraint.IsGoBuild(comment) && !constraint.IsPlusBuild(comment) {
		return ""
	}
	expr, err := constraint.Parse(comment)
	if err != nil {
		return err.Error()
	}
	for _, tag := range tagsOf(expr) {
		switch {
		case tag == exploreTag && slices.Contains(tagged, dir):
		case slices.Contains(platforms, tag) && !onePlatform(dir):
		default:
			return fmt.Sprintf("%s: no build tag but %s, in %s, and no platform in the lock-free packages and internal",
				comment, exploreTag, strings.Join(tagged, " and "))
		}
	}
	return ""
}

// tagsOf lists the tags that an expression names.
func tagsOf(e constraint.Expr) []string {
	switch e := e.(type) {
	case *constraint.TagExpr:
		return []string{e.Tag}
	case *constraint.NotExpr:
		return tagsOf(e.X)
	case *constraint.AndExpr:
		return append(tagsOf(e.X), tagsOf(e.Y)...)
	case *constraint.OrExpr:
		return append(tagsOf(e.X), tagsOf(e.Y)...)
	}
	panic(fmt.Sprintf("doccheck: unknown constraint %T", e))
}
