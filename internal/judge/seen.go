package judge

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/files/gitdir"
)

// sees reports whether a read meets only paths that a trial sees and files that git tracks. If
// the access reads only names in a folder, one tracked file below it is enough. A trial also
// sees that a path is missing.
func (j *Judge) sees(a *umpire.Access) bool {
	path := a.Resolved
	if a.Glob {
		if at := strings.IndexAny(path, special); at >= 0 {
			path = filepath.Dir(path[:at] + "x")
		}
	}
	if !filepath.IsAbs(path) {
		return false
	}
	if isMissing(path) {
		return true
	}
	return j.Shown != nil && j.Shown(path) || j.tracks(a, path)
}

// tracks reports whether git tracks all files that an access reads in a repository. A home that
// is itself a repository has folders of all kinds, so there only tracked files count.
func (j *Judge) tracks(a *umpire.Access, path string) bool {
	top := gitdir.FindWorktree(path)
	if top == "" {
		return false
	}
	index, err := gitdir.ReadNames(top)
	if err != nil || len(index) == 0 {
		return false
	}
	tracked := func(file string) bool {
		below, err := filepath.Rel(top, file)
		return err == nil && index[filepath.ToSlash(below)]
	}
	info, err := os.Lstat(path)
	isFolder := err == nil && info.IsDir()
	if !isFolder {
		return err == nil && !a.Glob && tracked(path)
	}
	below := ""
	if path != top {
		below = filepath.ToSlash(strings.TrimPrefix(path, top+string(filepath.Separator))) + "/"
	}
	if files.Within(top, j.Bounds.Home) || !anyBelow(index, below) {
		return false
	}
	if a.Names || !a.Tree && !a.Glob {
		return true
	}
	dotGit, quiet := filepath.Join(top, ".git"), keepsNoLogin(top)
	untracked, _, err := j.Bounds.Search(a, func(file string) bool {
		if quiet && files.Within(dotGit, file) {
			return false
		}
		info, err := os.Lstat(file)
		return err != nil || !info.IsDir() && !tracked(file)
	})
	return err == nil && untracked == ""
}

func anyBelow(index map[string]bool, folder string) bool {
	for name := range index {
		if strings.HasPrefix(name, folder) {
			return true
		}
	}
	return false
}

// keepsNoLogin reports whether a repository's settings hold no password or token, because a search would find these.
func keepsNoLogin(top string) bool {
	settings, err := gitdir.ReadConfig(filepath.Join(top, ".git", "config"))
	return err == nil && !slices.ContainsFunc(settings, func(s umpire.GitSetting) bool {
		_, login, isURL := strings.Cut(s.Key+s.Value, "://")
		return isURL && strings.Contains(login, "@") || strings.Contains(s.Key, "extraheader")
	})
}
