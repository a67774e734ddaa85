package place

import (
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/rulefile/wildcard"
)

// Limits on the work for one pattern. A pattern beyond them is in doubt.
const (
	maxGlobDirs    = 1000   // folders read
	maxGlobEntries = 20_000 // names looked at
	maxGlobLinks   = 1000   // matches to resolve
)

// errGlobDashed reports a file that a program may mistake for an option.
var errGlobDashed = errors.New("a file that it matches is named like an option")

var errGlobLimit = errors.New("the pattern covers too much to check")

// wild are the characters that make a component a pattern.
const wild = `*?[\{(`

// resolveGlob resolves a pattern: the folder before the first wildcard, joined with the rest.
// The place is the worst of that folder and all matches.
func (b *Bounds) resolveGlob(a *umpire.Access, written string) {
	prefix, rest := b.splitPattern(written)
	if len(rest) == 0 {
		prefix = written
	}
	resolved, place, err := b.locate(prefix, a.Kind)
	a.Resolved = filepath.Join(append([]string{resolved}, rest...)...)
	a.Place = place
	var outside umpire.Phrase
	if err == nil && len(rest) > 0 && place != umpire.PlaceOutside {
		e := expansion{bounds: b, kind: a.Kind, place: place}
		err = e.walk(prefix, rest, len(b.holes) > 0)
		if a.Place = e.place; !a.Names {
			outside = e.outside // no rule sees that path, and it may be a secret
		}
	}
	shown := files.Clip(a.Target)
	switch {
	case err != nil:
		addDoubt(a, umpire.Say("pattern %q: %s", shown, err))
	case outside != "":
		addDoubt(a, umpire.Say("pattern %q: %s", shown, outside))
	case bracesExpand(strings.Join(rest, "/")):
		addDoubt(a, umpire.Say("pattern %q: %s", shown, umpire.Phrase("pattern may hold braces to expand")))
	}
}

// splitPattern splits a path before its first component with a wildcard. The project's own
// folders are not patterns. The prefix ends in a separator to make Follow resolve a link there.
func (b *Bounds) splitPattern(written string) (prefix string, rest []string) {
	parts, names := files.Components(written), 0
	for _, folder := range append(slices.Clip(b.spelled), b.Dir) {
		if files.Within(folder, written) {
			names = max(names, len(files.Components(strings.TrimRight(folder, "/"))))
		}
	}
	for i, part := range parts {
		if i >= names && strings.ContainsAny(part, wild) {
			sep := string(filepath.Separator)
			return filepath.VolumeName(written) + strings.Join(parts[:i], sep) + sep, parts[i:]
		}
	}
	return written, nil
}

// bracesExpand reports whether a shell may expand a pattern into several words. Walking the
// files cannot show that.
func bracesExpand(pattern string) bool {
	_, rest, ok := strings.Cut(pattern, "{")
	return ok && (strings.Contains(rest, ",") || strings.Contains(rest, ".."))
}

// An expansion finds the matches of a pattern. Below an inside folder only a match with a link
// or a ".." in its path can lead elsewhere, so an expansion resolves no other match.
type expansion struct {
	bounds *Bounds
	kind   umpire.AccessKind
	place  umpire.Place // the worst so far
	// outside names a match that leads out of the project.
	outside umpire.Phrase
	// secret reports whether a file holds secrets; found is the first such file. If secret is
	// nil, the expansion does not look for secrets.
	secret func(file string) bool
	found  string

	dirs, entries, links int
}

// walk follows the remaining components of a pattern from a folder. dir ends in a separator
// unless it is a match. Paths are never cleaned, because ".." must mean the same to the system
// as to the program. suspect says that the path so far has to be resolved.
func (e *expansion) walk(dir string, rest []string, suspect bool) error {
	if e.place == umpire.PlaceOutside || e.found != "" {
		return nil
	}
	if len(rest) == 0 {
		return e.match(dir, suspect)
	}
	part, rest := rest[0], rest[1:]
	switch {
	case part == "" || part == ".":
		return e.walk(withSlash(dir), rest, suspect)
	case part == "..":
		return e.walk(withSlash(dir)+part, rest, true)
	case part == "**":
		return e.deep(dir, rest, suspect)
	case strings.ContainsAny(part, wild):
		return e.wide(dir, part, rest, suspect)
	}
	next := withSlash(dir) + part
	info, err := os.Lstat(next)
	if files.Missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return e.walk(next, rest, suspect || info.Mode()&os.ModeSymlink != 0)
}

// match records one path that the pattern matches.
func (e *expansion) match(path string, suspect bool) error {
	if e.secret != nil && e.secret(path) {
		e.found = filepath.Clean(path)
	}
	if !suspect {
		return nil
	}
	if e.links++; e.links > maxGlobLinks {
		return errGlobLimit
	}
	target, place, err := e.bounds.locate(path, e.kind)
	if place == umpire.PlaceOutside {
		e.outside = leadsOut(path, target)
	}
	if e.found == "" && err == nil && e.secret != nil && e.secret(target) {
		e.found = target
	}
	e.place = min(e.place, place)
	return err
}

// wide matches one component against the names in a folder.
func (e *expansion) wide(dir, part string, rest []string, suspect bool) error {
	// Many shells let .* match the parent folder.
	if part[0] == '.' && matchesPart(part, "..") {
		if err := e.walk(withSlash(dir)+"..", rest, true); err != nil {
			return err
		}
	}
	entries, err := e.listFolder(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !matchesPart(part, entry.Name()) {
			continue
		}
		if entry.Name()[0] == '-' {
			return errGlobDashed
		}
		link := entry.Type()&os.ModeSymlink != 0
		if len(rest) > 0 && !link && !entry.IsDir() {
			continue
		}
		if err := e.walk(withSlash(dir)+entry.Name(), rest, suspect || link); err != nil {
			return err
		}
	}
	return nil
}

// deep matches **: zero or more folders. As in shells, it matches links to folders without
// entering them.
func (e *expansion) deep(dir string, rest []string, suspect bool) error {
	for len(rest) > 0 && rest[0] == "**" {
		rest = rest[1:]
	}
	if err := e.walk(dir, rest, suspect); err != nil {
		return err
	}
	entries, err := e.listFolder(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Name()[0] == '.' {
			continue
		}
		next := withSlash(dir) + entry.Name()
		switch {
		case entry.IsDir():
			err = e.deep(next, rest, suspect)
		case entry.Type()&os.ModeSymlink != 0:
			err = e.walk(next, rest, true)
		case len(rest) == 0:
			err = e.match(next, suspect)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// listFolder lists a folder within the limits. A path that is not a folder has no entries.
func (e *expansion) listFolder(dir string) ([]os.DirEntry, error) {
	if e.dirs++; e.dirs > maxGlobDirs {
		return nil, errGlobLimit
	}
	f, err := files.OpenFolder(dir)
	if f == nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(maxGlobEntries - e.entries + 1)
	if e.entries += len(entries); e.entries > maxGlobEntries {
		return nil, errGlobLimit
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return entries, err
}

// matchesPart reports whether a name matches a component of a pattern. If shells differ, it
// returns true: a wrong match costs a question, a missing one opens a hole.
func matchesPart(part, name string) bool {
	if strings.Contains(part, "(") || strings.Contains(part, "{") {
		return true
	}
	if name[0] == '.' && part[0] != '.' && !strings.HasPrefix(part, `\.`) {
		return false
	}
	if strings.Contains(part, "[:") || strings.Contains(part, "[=") || strings.Contains(part, "[.") {
		return true
	}
	// In a plain locale "?" matches one byte of a multi-byte character.
	if strings.ContainsAny(part, "?[") && len(name) != utf8.RuneCountInString(name) {
		return true
	}
	ok, err := path.Match(strings.ReplaceAll(part, "[!", "[^"), name)
	named, _ := path.Match(wildcard.Literal(part), name)
	return ok || err != nil || named
}

// withSlash appends a separator unless the path has one.
func withSlash(dir string) string {
	if os.IsPathSeparator(dir[len(dir)-1]) {
		return dir
	}
	return dir + string(filepath.Separator)
}
