package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// Limits on a search. If it exceeds them, it stops and says so.
const (
	maxWalk  = 500_000 // entries looked at
	maxDepth = 128     // nested folders, each kept open
)

var errWalk = errors.New("too many files or nested folders: search a smaller folder")

// A walk visits a folder and everything below it, in order of name. It skips links,
// .git, and ignored names.
type walk struct {
	hidden bool // include names with a leading dot
	visit  func(found) error
	seen   int
}

// A level is one folder that a walk is in.
type level struct {
	dir   *os.Root
	rel   string // its path relative to the start of the walk
	top   string // its path relative to the root of the rules
	rules ignores
	depth int
}

// A found is one file, or link, that a walk came upon.
type found struct {
	dir   *os.Root // its folder; open during the visit
	entry fs.DirEntry
	path  string // relative to the start of the walk, with slashes; "" for the start itself
}

// errEnough ends a walk early.
var errEnough = errors.New("enough")

// search walks from a place. A place that is a file is all that is found.
func (s *Set) search(ctx context.Context, p *place, hidden bool, visit func(found) error) error {
	w := walk{hidden: hidden, visit: visit}
	info, err := p.dir.Lstat(p.name)
	if err != nil {
		return namePathOnce(p.path, err)
	}
	if info.Mode().IsRegular() {
		return endsEarly(visit(found{dir: p.dir, entry: fs.FileInfoToDirEntry(info)}))
	}
	dir, err := p.folder()
	if err != nil {
		return err
	}
	rules, top := s.ignoresAbove(p.path)
	return endsEarly(w.folder(ctx, level{dir: dir, top: top, rules: rules}))
}

// endsEarly takes the wish to end early for no error.
func endsEarly(err error) error {
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// folder goes through one folder and closes it.
func (w *walk) folder(ctx context.Context, l level) error {
	defer func() { _ = l.dir.Close() }() // only looked through
	if l.depth > maxDepth {
		return errWalk
	}
	entries, err := fs.ReadDir(l.dir.FS(), ".")
	if err != nil {
		return nil // an unreadable folder has no entries
	}
	if text, err := readIgnoreFile(l.dir, ignoreFile); err == nil {
		l.rules = l.rules.with(l.top, text)
	}
	for _, e := range entries {
		if err := w.entry(ctx, l, e); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) entry(ctx context.Context, l level, e fs.DirEntry) error {
	if w.seen++; w.seen > maxWalk {
		return errWalk
	}
	if ctx.Err() != nil {
		return fmt.Errorf("search: %w", context.Cause(ctx))
	}
	name := e.Name()
	rel, top := path.Join(l.rel, name), path.Join(l.top, name)
	if name == ".git" || strings.HasPrefix(name, ".") && !w.hidden || l.rules.match(top, e.IsDir()) {
		return nil
	}
	if !e.IsDir() {
		return w.visit(found{dir: l.dir, entry: e, path: rel})
	}
	next, err := descendInto(l.dir, name, false)
	if err != nil {
		return nil //nolint:nilerr // it has gone since, or may not be entered
	}
	return w.folder(ctx, level{dir: next, rel: rel, top: top, rules: l.rules, depth: l.depth + 1})
}
