// Package project says which project a working directory belongs to: who it is, on
// top of its bounds, which package place finds.
//
// What the package keeps true:
//
//   - Every folder and every linked worktree of a git repository has one id, the
//     smallest root commit of HEAD. Without usable history, and without git, the
//     id is the SHA-256 of the canonical root path.
//   - Opening a project whose HEAD was seen before starts no process. A new HEAD
//     costs a walk over the new commits only.
//   - Nothing in a repository makes Open run a program of the repository's choice,
//     block on a pipe, or take over another repository's identity.
package project

import (
	"fmt"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/place"
)

// A Kind says what gives a project its identity.
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

// A Project is what a working directory belongs to. It is immutable after
// [Open] and safe for concurrent use. The zero value contains nothing.
type Project struct {
	place.Bounds

	// GitDir is the canonical git directory that all worktrees share, "" without
	// git. Two clones of one repository share the project and differ here.
	GitDir string
	// Worktree is git's name for the linked worktree, "" for the main one.
	Worktree string
	ID       umpire.ProjectID
	Kind     Kind
	// Former is the id that the project had, or would have had, before its first
	// commit; "" when that is its ID.
	Former umpire.ProjectID
}

// Options are settings for [Open]. The zero value discovers everything, adds nothing and
// caches nothing.
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
	// Cache is a private folder that remembers identities; "" remembers none.
	Cache string
}

// Open returns the project that dir belongs to. A dir that does not exist
// belongs to the project that it would lie in. It fails when dir cannot be
// resolved; what goes wrong with git is a note, and the path gives the identity.
func Open(dir string, o Options) (*Project, error) {
	found, err := place.Open(dir, place.Options{Root: o.Root, Added: o.Added, Home: o.Home, Scratch: o.Scratch})
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

// A repository is one whose history is looked at.
type repository struct{ place.Repository }
