// Package project finds the project of a working directory: its identity, in addition to
// the bounds found by package place.
//
// Guarantees:
//
//   - All folders and linked worktrees of a git repository have the same id, the
//     smallest root commit of HEAD. Without usable history, and without git, the
//     id is the SHA-256 of the canonical root path.
//   - Opening a project with a known HEAD starts no process. A new HEAD costs a
//     walk over the new commits only.
//   - A repository cannot make Open run a program of its choice, block on a pipe,
//     or take over another repository's identity.
package project

import (
	"fmt"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/place"
)

// A Kind is the source of a project's identity.
type Kind uint8

// The kinds. The zero value is a plain folder.
const (
	kindPath Kind = iota // the path of the folder
	kindGit              // a root commit of its git repository
)

var kindNames = [...]string{kindPath: "path", kindGit: "git_root"}

// String returns "path" or "git_root".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[kindPath]
}

// A Project is the project of a working directory. It is immutable after [Open] and safe
// for concurrent use. The zero value contains nothing.
type Project struct {
	place.Bounds

	// GitDir is the canonical git directory shared by all worktrees, or "" without git.
	// Two clones of one repository share the project and differ here.
	GitDir string
	// Worktree is git's name for the linked worktree, or "" for the main one.
	Worktree string
	ID       umpire.ProjectID
	Kind     Kind
	// Former is the id that the project had, or would have had, before its first commit.
	// It is "" if that equals ID.
	Former umpire.ProjectID
}

// Options are settings for [Open]. The zero value discovers everything, adds nothing and
// caches nothing.
type Options struct {
	// Added are further folders that count as inside.
	Added []string
	// Home is the user's home, which marker files never make a project.
	Home string
	// Cache is a private folder for known identities. If "", nothing is cached.
	Cache string
}

// Open returns the project of dir. A dir that does not exist belongs to the project that
// would contain it. Open fails if dir cannot be resolved. If git fails, the project gets
// a note, and its path becomes the identity.
func Open(dir string, o Options) (*Project, error) {
	found, err := place.Open(dir, place.Options{Added: o.Added, Home: o.Home})
	if err != nil {
		return nil, err
	}
	p := &Project{Bounds: *found, GitDir: found.Repository.Common, Worktree: found.Repository.Worktree}
	p.identify(o.Cache)
	return p, nil
}

func (p *Project) addNote(format string, args ...any) {
	p.Notes = append(p.Notes, fmt.Sprintf(format, args...))
}

// A repository is a repository whose history is read.
type repository struct{ place.Repository }
