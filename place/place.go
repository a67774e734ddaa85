// Package ground says which folder a working directory belongs to as a project, and
// whether a path lies inside once links are resolved.
//
// [Open] finds the ground of a directory; [Ground.Resolve] fills in where a path
// access leads. What the package keeps true:
//
//   - Nothing in a repository makes Open start a program, block on a pipe, or widen
//     what is inside.
//   - A path is inside only when the way it is written and the place it leads to
//     both are; whatever cannot be resolved is outside.
//
// Who the project is, package project knows: it takes longer to find out.
package ground

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/umpirehq/umpire/internal/files"
)

// A Ground is where a working directory stands. It is immutable after [Open] and
// safe for concurrent use. The zero value contains nothing.
type Bounds struct {
	// Root is the canonical root folder: for git that of the session's own
	// worktree.
	Root string
	// GitDir is the canonical git directory that all worktrees share, "" without
	// git. Two clones of one repository share the project and differ here.
	GitDir string
	// Worktree is git's name for the linked worktree, "" for the main one.
	Worktree string
	Dir      string   // the canonical working directory
	Added    []string // the canonical added directories
	Home     string   // the canonical home, "" when unknown
	// FoldCase says that the file system takes upper and lower case of Root for
	// the same folder.
	FoldCase bool
	// Notes say what a person should know about how the root was found.
	Notes []string
	// Repository is the git repository that was found, nil for none.
	Repository *Repository

	bounds  []string // canonical folders that count as inside
	spelled []string // the bounds, and the other ways they were written
	holes   []string // sibling worktrees that lie within a bound
}

// Options are what [Open] may be told. The zero value discovers everything and adds
// nothing.
type Options struct {
	// Root sets the root folder instead of discovering it. The identity still
	// is that of the repository around it, if there is one.
	Root string
	// Added are further folders that count as inside.
	Added []string
	// Home is the person's home directory, which no marker file makes a project.
	Home string
	// Scratch are temporary folders of our own; they count as inside.
	Scratch []string
}

// Open returns the ground that dir belongs to. A dir that does not exist belongs to
// the one that it would lie in. It fails when dir cannot be resolved; what goes
// wrong with git is a note.
func Open(dir string, o Options) (*Ground, error) {
	written, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open project %q: %w", dir, err)
	}
	p := &Ground{}
	if b.Dir, err = files.Canonical(written); err != nil {
		return nil, fmt.Errorf("open project %q: %w", dir, err)
	}
	if info, err := os.Stat(b.Dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("open project %q: not a directory", dir)
	}
	if o.Home != "" {
		if b.Home, err = files.Canonical(o.Home); err != nil {
			return nil, fmt.Errorf("open project %q: home %q: %w", dir, o.Home, err)
		}
	}
	if p.Repository, err = p.discover(o); err != nil {
		return nil, fmt.Errorf("open project %q: root %q: %w", dir, o.Root, err)
	}
	if p.Repository != nil {
		p.GitDir, p.Worktree = p.Repository.Common, p.Repository.Worktree
	}
	p.FoldCase = foldsCase(p.Root)
	p.enclose(written, o)
	p.holes = p.Repository.siblings(p.Root)
	return p, nil
}

func (b *Bounds) note(format string, args ...any) {
	b.Notes = append(b.Notes, fmt.Sprintf(format, args...))
}
