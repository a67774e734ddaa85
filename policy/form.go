package policy

import (
	"path"
	"strings"

	"github.com/umpirehq/umpire"
)

// A form is one spelling of a path, cut into segments as they are and folded.
type form struct {
	segs, folded []string
	// pattern is set instead of segs being names when the path holds wildcards.
	pattern, patternFolded []segment
	// rootSegs is what [Options.below] found, plus one; 0 is not known yet.
	rootSegs int
}

// names and wildcards of the form, folded or not.
func (f *form) target(folded bool) []segment {
	if folded {
		return f.patternFolded
	}
	return f.pattern
}

// forms are the spellings of one access's path: as written, with links
// resolved, and as a Windows path when it holds one.
type forms struct {
	written  form
	resolved form
	windows  form

	hasResolved, hasWindows bool
}

// newForms prepares the path of an access for matching against many globs.
func newForms(a *umpire.Access, root string) forms {
	fs := forms{written: newForm(absolutePath(a.Target, root), a.Glob)}
	if a.Resolved != "" {
		fs.hasResolved = true
		fs.resolved = fs.written
		if a.Resolved != a.Target {
			fs.resolved = newForm(absolutePath(a.Resolved, root), a.Glob)
		}
	}
	if text, ok := drivePath(a.Target); ok {
		fs.hasWindows = true
		fs.windows = newForm(text, a.Glob)
	}
	return fs
}

// each calls visit for every form there is.
func (fs *forms) each(visit func(*form)) {
	visit(&fs.written)
	if fs.hasResolved {
		visit(&fs.resolved)
	}
	if fs.hasWindows {
		visit(&fs.windows)
	}
}

func absolutePath(p, root string) string {
	if !strings.HasPrefix(p, "/") {
		p = root + "/" + p
	}
	return path.Clean(p)
}

func newForm(p string, globbed bool) form {
	if globbed {
		alternatives, err := expandBraces(p)
		if err != nil || len(alternatives) != 1 {
			// Braces that were not expanded: treat what follows as anything.
			p = p[:strings.IndexByte(p, '{')] + "*/**"
		}
		return form{pattern: splitSegments(p, false), patternFolded: splitSegments(p, true)}
	}
	f := form{segs: cutPath(p)}
	f.folded = f.segs
	if text := foldCase(p); text != p {
		f.folded = cutPath(text)
	}
	return f
}

// cutPath cuts a clean absolute path into its segments.
func cutPath(p string) []string {
	p = strings.Trim(p, "/")
	if p == "" {
		return nil
	}
	return strings.Split(p, "/")
}
