package gitdir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/shell"
)

// MayRunHooks reports whether git could run a hook of the repository around a folder: one lies
// among its hooks, or its settings, which the caller has read, name another folder of hooks. A
// repository that cannot be read may.
func MayRunHooks(dir string, settings []shell.GitSetting) bool {
	top := FindWorktree(dir)
	if top == "" {
		return true
	}
	for _, s := range settings {
		if key := strings.ToLower(s.Key); key == "core.hookspath" || strings.HasPrefix(key, "hook.") {
			return true
		}
	}
	gitDir, err := Find(filepath.Join(top, ".git"))
	if err != nil {
		return true
	}
	common := gitDir
	if line, err := files.ReadLine(filepath.Join(gitDir, "commondir")); err == nil {
		common = files.AbsoluteFrom(gitDir, line)
	}
	return holdsHooks(common) || gitDir != common && holdsHooks(gitDir)
}

// holdsHooks reports whether anything but git's own samples lies among the hooks.
func holdsHooks(gitDir string) bool {
	entries, err := os.ReadDir(filepath.Join(gitDir, "hooks"))
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".sample") {
			return true
		}
	}
	return err != nil
}
