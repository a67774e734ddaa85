// Package gitdir reads the files of git without starting git: where a repository lies, what
// its HEAD names, its settings and its index. Nothing in a repository makes it start a
// program or read without a bound.
package gitdir

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// MaxFile bounds the small files of a repository: HEAD, a loose ref, a .git
// file, a configuration.
const MaxFile = 1 << 20

// Find returns the canonical git directory of a .git folder or file.
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
