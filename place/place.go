// Package place finds the bounds of a project and resolves paths within them: which folder a
// working directory belongs to, and whether a path lies inside it after following its links.
//
// [Open] finds the bounds of a directory. [Bounds.Env] gives package shell the environment to
// read a command line there, and [Bounds.ResolveAll] fills in the Place of every path. Without
// it, package policy treats all paths as outside:
//
//	bounds, err := place.Open(dir, place.Options{Home: home})
//	facts, err := policy.FactsOf(call, bounds.Env())
//	bounds.ResolveAll(&facts)
//
// The package keeps these promises:
//
//   - It only looks. Nothing in a repository makes it start a program, block on a
//     pipe, or widen the bounds.
//   - A path is inside only when the path as written and the place it leads to both
//     are. A path that cannot be resolved is outside, and in doubt.
//   - It looks at the file system on every call and keeps nothing, so an answer holds
//     for the moment it was given. Resolve again before you act on it.
package place

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// Bounds say what is inside a project. They are immutable after [Open] and safe for
// concurrent use. The zero value contains nothing.
type Bounds struct {
	// Root is the canonical root folder of the project. In a git repository it is the
	// top folder of the working directory's own worktree.
	Root string
	// Dir is the canonical working directory, from which relative paths start.
	Dir string
	// Added are the canonical added directories.
	Added []string
	// Home is the canonical home directory, "" when unknown.
	Home string
	// FoldCase says that the file system ignores case in the path of Root.
	FoldCase bool
	// Notes tell the person how the root was found.
	Notes []string
	// Repository is the git repository around the root. It is zero if there is no repository.
	Repository Repository

	written string   // the home directory as commands write it
	inside  []string // canonical folders that count as inside
	spelled []string // these folders, and the other ways they were written
	holes   []string // sibling worktrees that lie within one of them
}

// Options are settings for [Open]. The zero value discovers the root and adds nothing.
type Options struct {
	// Root sets the root folder instead of discovering it.
	Root string
	// Added are further folders that count as inside.
	Added []string
	// Home is the person's home directory. No marker file or repository in it makes
	// all of it a project.
	Home string
	// Scratch are the caller's own temporary folders; they count as inside.
	Scratch []string
}

// Open returns the bounds of the project that dir belongs to: the nearest folder at or above it
// with a .git, else the nearest one with a marker such as go.mod or package.json, else dir
// itself. A missing dir belongs to the project that it would lie in. Open fails if dir, Root or
// Home cannot be resolved. A problem with git or with an added folder becomes a note and never
// widens the bounds.
func Open(dir string, o Options) (*Bounds, error) {
	written, err := filepath.Abs(dir)
	if err != nil {
		return nil, umpire.Errorf("open project %q: %w", dir, err)
	}
	b := &Bounds{written: o.Home}
	if b.Dir, err = files.Canonical(written); err != nil {
		return nil, umpire.Errorf("open project %q: %w", dir, err)
	}
	if info, err := os.Stat(b.Dir); err == nil && !info.IsDir() {
		return nil, umpire.Errorf("open project %q: not a directory", dir)
	}
	switch {
	case o.Home == "":
	case b.Dir == written && files.Within(o.Home, written):
		b.Home = filepath.Clean(o.Home) // no folder above a path without links is a link
	default:
		if b.Home, err = files.Canonical(o.Home); err != nil {
			return nil, umpire.Errorf("open project %q: home %q: %w", dir, o.Home, err)
		}
	}
	if b.Repository, err = b.discover(o); err != nil {
		return nil, umpire.Errorf("open project %q: root %q: %w", dir, o.Root, err)
	}
	b.FoldCase = foldsCase(b.Root)
	b.enclose(written, o)
	b.holes = b.Repository.siblings(b.Root)
	return b, nil
}

func (b *Bounds) addNote(format string, args ...any) {
	b.Notes = append(b.Notes, fmt.Sprintf(format, args...))
}
