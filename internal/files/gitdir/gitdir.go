// Package gitdir reads the files of a git repository without starting git: its location, its
// HEAD, its settings and its index. Nothing in a repository can make the package start a
// program or read without limit.
//
// It also determines which paths a git command changes, and which folders a list of changes
// turns into repositories.
//
//	changes, known := gitdir.Foresee(ctx, dir, []string{"git", "switch", "topic"})
//	armed := gitdir.NewView(changed).Armed(changed)
//
// Foresee runs git, but only to read objects and refs, and without the person's settings. It
// reports changes that it cannot foresee as unknown.
package gitdir

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// MaxFile is the maximum size of the small files of a repository: HEAD, a loose ref, a .git
// file, a configuration.
const MaxFile = 1 << 20

// Find returns the canonical git directory that a .git folder or file leads to.
func Find(dotGit string) (string, error) {
	gitDir := dotGit
	info, err := os.Stat(dotGit)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		line, err := files.ReadLine(dotGit)
		if err != nil {
			return "", err
		}
		target, ok := strings.CutPrefix(line, "gitdir:")
		if !ok {
			return "", umpire.Errorf("no gitdir line")
		}
		gitDir = files.AbsoluteFrom(filepath.Dir(dotGit), strings.TrimSpace(target))
	}
	if gitDir, err = files.Canonical(gitDir); err != nil {
		return "", err
	}
	_, err = os.Lstat(filepath.Join(gitDir, "HEAD"))
	return gitDir, err
}
