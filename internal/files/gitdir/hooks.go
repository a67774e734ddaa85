package gitdir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// MayRunHooks reports whether git could run a hook of the repository around a folder: its hooks
// folder has one, or its settings, which the caller has read, name another hooks folder. It
// returns true for a repository that cannot be read.
func MayRunHooks(dir string, settings []umpire.GitSetting) bool {
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

// PersonRunsPrograms reports whether the settings of the person or the system name a program
// that git runs when it records or checks out files: a hook, a filter, a merge driver, or a
// file monitor. It returns true for settings that cannot be read.
func PersonRunsPrograms(home string) bool {
	r := settingsReader{home: home}
	for _, file := range []string{
		"/etc/gitconfig", filepath.Join(home, ".gitconfig"), filepath.Join(home, ".config/git/config"),
	} {
		r.file(file)
	}
	return r.err != nil || slices.ContainsFunc(r.found, func(s umpire.GitSetting) bool {
		section, _, _ := strings.Cut(s.Key, ".")
		name := s.Key[strings.LastIndexByte(s.Key, '.')+1:]
		switch section {
		case "filter":
			return name != "required"
		case "merge":
			return name == "driver"
		case "core":
			return name == "hookspath" || name == "fsmonitor" && s.Value != "false"
		}
		return section == "hook"
	})
}

// holdsHooks reports whether a git directory has hooks other than git's own samples.
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
