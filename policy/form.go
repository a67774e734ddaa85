package policy

import (
	"path"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/rulefile/wildcard"
)

// A form is one spelling of a path, split into segments, both as is and folded.
type form struct {
	segs, folded []string
	// pattern is set instead of segs if the path contains wildcards.
	pattern, patternFolded []segment
	// rootSegs is the result of [Options.below], plus one; 0 means that it is not known yet.
	rootSegs int
}

// target returns the names and wildcards of the form, folded or not.
func (f *form) target(folded bool) []segment {
	if folded {
		return f.patternFolded
	}
	return f.pattern
}

// forms are the spellings of one access's path: as written, with links resolved, and as a
// Windows path if it contains one.
type forms struct {
	written  form
	resolved form
	windows  form

	hasResolved, hasWindows bool
	// isMoved says that resolving the path led elsewhere.
	isMoved bool
}

// newForms prepares the path of an access for matching against many globs.
func newForms(a *umpire.Access, root string) forms {
	read := newForm
	if a.Glob {
		read = func(path string) form { return newPattern(path, root) }
	}
	written := absolutePath(a.Target, root)
	fs := forms{written: read(written)}
	if a.Resolved != "" {
		fs.hasResolved = true
		fs.resolved = fs.written
		if resolved := absolutePath(a.Resolved, root); resolved != written {
			fs.resolved, fs.isMoved = read(resolved), true
		}
	}
	if text, ok := drivePath(a.Target); ok {
		fs.hasWindows = true
		fs.windows = read(text)
	}
	return fs
}

// each calls visit once for every form.
func (fs *forms) each(visit func(*form)) {
	visit(&fs.written)
	if fs.isMoved {
		visit(&fs.resolved)
	}
	if fs.hasWindows {
		visit(&fs.windows)
	}
}

// last returns the resolved form, or the written one if the path was not resolved.
func (fs *forms) last() *form {
	if fs.hasResolved {
		return &fs.resolved
	}
	return &fs.written
}

func absolutePath(p, root string) string {
	if !strings.HasPrefix(p, "/") {
		p = root + "/" + p
	}
	return path.Clean(p)
}

// newForm returns the form of a name, and newPattern that of a command's pattern.
func newForm(name string) form {
	f := form{segs: cutPath(name)}
	f.folded = f.segs
	if text := wildcard.FoldCase(name); text != name {
		f.folded = cutPath(text)
	}
	return f
}

func newPattern(pattern, root string) form {
	return form{pattern: splitTarget(pattern, root, false), patternFolded: splitTarget(pattern, root, true)}
}

// splitTarget splits a command's pattern into segments. The root's folders are names; elsewhere
// a bracket or backslash may belong to a name.
func splitTarget(p, root string, folded bool) []segment {
	var segs []segment
	if rest, inside := strings.CutPrefix(p, strings.TrimSuffix(root, "/")+"/"); inside {
		for _, name := range cutPath(root) {
			segs = append(segs, segment{text: name})
		}
		p = rest
	}
	head, rest, open := strings.Cut(p, "{")
	if open && (strings.Contains(rest, ",") || strings.Contains(rest, "..")) {
		// Braces that were not expanded: treat the rest as anything.
		p = head + "*/**"
	}
	for _, text := range cutPath(p) {
		if !wildcard.Has(text) {
			text = strings.ReplaceAll(text, `\`, "*") // it may or may not be part of the name
		}
		s := newSegment(plainBraces.Replace(text))
		s.other = plainBraces.Replace(wildcard.Literal(text))
		segs = append(segs, s)
	}
	if folded {
		for i := range segs {
			segs[i].text, segs[i].other = wildcard.FoldCase(segs[i].text), wildcard.FoldCase(segs[i].other)
		}
	}
	return segs
}

// plainBraces escapes braces.
var plainBraces = strings.NewReplacer("{", `\{`, "}", `\}`)

// cutPath splits a clean absolute path into its segments.
func cutPath(p string) []string {
	p = strings.Trim(p, "/")
	if p == "" {
		return nil
	}
	return strings.Split(p, "/")
}
