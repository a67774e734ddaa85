// Package project says which project a working directory belongs to, and
// whether a path lies inside it once links are resolved.
//
// [Open] finds the project of a directory; [Project.Resolve] fills in where a
// path access leads. What the package keeps true:
//
//   - Every folder and every linked worktree of a git repository has one id, the
//     smallest root commit of HEAD. Without usable history, and without git, the
//     id is the SHA-256 of the canonical root path.
//   - Opening a project whose HEAD was seen before starts no process. A new HEAD
//     costs a walk over the new commits only.
//   - Nothing in a repository makes Open run a program of the repository's choice,
//     block on a pipe, or take over another repository's identity.
//   - A path is inside only when the way it is written and the place it leads to
//     both are; whatever cannot be resolved is outside.
package project

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/umpirehq/umpire"
)

// A Kind says what gives a project its identity.
type Kind uint8

// The kinds. The zero value is a plain folder.
const (
	KindPath Kind = iota // a folder, known by its path
	KindGit              // a git repository
)

var kindNames = [...]string{KindPath: "path", KindGit: "git_root"}

// String returns "path" or "git_root".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[KindPath]
}

// A Project is what a working directory belongs to. It is immutable after
// [Open] and safe for concurrent use. The zero value contains nothing.
type Project struct {
	ID   umpire.ProjectID
	Kind Kind
	// Former is the id that the project had, or would have had, before its first
	// commit; "" when that is its ID.
	Former umpire.ProjectID
	// Root is the canonical root folder: for git that of the session's own
	// worktree.
	Root string
	// GitDir is the canonical git directory that all worktrees share, "" without
	// git. Two clones of one repository share the ID and differ here.
	GitDir string
	// Worktree is git's name for the linked worktree, "" for the main one.
	Worktree string
	Dir      string   // the canonical working directory
	Added    []string // the canonical added directories
	Home     string   // the canonical home, "" when unknown
	// FoldCase says that the file system takes upper and lower case of Root for
	// the same folder.
	FoldCase bool
	// Notes say what a person should know about how the project was found.
	Notes []string

	bounds  []string // canonical folders that count as inside
	spelled []string // the bounds, and the other ways they were written
	holes   []string // sibling worktrees that lie within a bound
}

// Options are what [Open] may be told. The zero value discovers everything,
// adds nothing and caches nothing.
type Options struct {
	// Root sets the root folder instead of discovering it. The identity still
	// is that of the repository around it, if there is one.
	Root string
	// Added are further folders that count as inside.
	Added []string
	// Home is the person's home directory, which no marker file makes a project.
	Home string
	// Cache is a private folder that remembers identities; "" remembers none.
	Cache string
	// Scratch are temporary folders of our own; they count as inside.
	Scratch []string
}

// Open returns the project that dir belongs to. A dir that does not exist
// belongs to the project that it would lie in. It fails when dir cannot be
// resolved; what goes wrong with git is a note, and the path gives the identity.
func Open(dir string, o Options) (*Project, error) {
	written, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open project %q: %w", dir, err)
	}
	p := &Project{}
	if p.Dir, err = canonical(written); err != nil {
		return nil, fmt.Errorf("open project %q: %w", dir, err)
	}
	if info, err := os.Stat(p.Dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("open project %q: not a directory", dir)
	}
	if o.Home != "" {
		if p.Home, err = canonical(o.Home); err != nil {
			return nil, fmt.Errorf("open project %q: home %q: %w", dir, o.Home, err)
		}
	}
	repo, err := p.discover(o)
	if err != nil {
		return nil, fmt.Errorf("open project %q: root %q: %w", dir, o.Root, err)
	}
	p.identify(repo, o.Cache)
	p.FoldCase = foldsCase(p.Root)
	p.enclose(written, o)
	p.holes = repo.siblings(p.Root)
	return p, nil
}

func (p *Project) note(format string, args ...any) {
	p.Notes = append(p.Notes, fmt.Sprintf(format, args...))
}
