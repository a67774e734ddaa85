package trial

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/files/gitdir"
)

// namesNothing reports whether a change to a guarded file of git names no program and no other
// folder: it sets a branch's upstream, or links a new work tree to its repository.
func namesNothing(v gitdir.View, c *gitdir.Change) bool {
	name := filepath.Base(c.Path)
	dir := filepath.Dir(c.Path)
	switch {
	case c.Gone || !c.After.IsRegular() || !c.New && c.Before != c.After:
		return false
	case name == ".git":
		return c.New && linksBack(v, c)
	case gitdir.Directory(c.Path) == "":
		return false
	case c.Same:
		return c.After&0o111 == 0
	case name == "config" && gitdir.Directory(c.Path) == dir:
		return !c.New && onlyFollows(c)
	case (name == "gitdir" || name == "commondir") && filepath.Base(filepath.Dir(dir)) == "worktrees":
		tree := v[dotGitOf(v, dir)]
		return c.New && tree != nil && tree.New && linksBack(v, tree)
	}
	return false
}

// dotGitOf returns the .git file that the git directory of a work tree names.
func dotGitOf(v gitdir.View, dir string) string {
	path, _ := files.ReadLine(v.File(filepath.Join(dir, "gitdir"))) // "" if the file cannot be read
	return path
}

// linksBack reports whether a .git file and the git directory that it names belong to a new
// work tree, as git creates them.
func linksBack(v gitdir.View, c *gitdir.Change) bool {
	line, err := files.ReadLine(c.File)
	dir, is := strings.CutPrefix(line, "gitdir: ")
	if err != nil || !is || filepath.Base(filepath.Dir(dir)) != "worktrees" || gitdir.Directory(dir) == "" {
		return false
	}
	made := v[filepath.Join(dir, "commondir")]
	if made == nil || !made.New || made.After&fs.ModeType != 0 {
		return false
	}
	common, err := files.ReadLine(made.File)
	return err == nil && common == "../.." && dotGitOf(v, dir) == c.Path &&
		!v.Has(filepath.Join(dir, "config.worktree"))
}

// followed are the settings that define a branch's upstream.
var followed = []string{"remote", "merge", "rebase", "description"}

// onlyFollows reports whether two versions of a repository's settings differ only in the
// upstreams of its branches.
func onlyFollows(c *gitdir.Change) bool {
	was, err := gitdir.ReadConfig(c.Path)
	is, also := gitdir.ReadConfig(c.File)
	if err != nil || also != nil {
		return false
	}
	for i := range was {
		was[i].File = ""
	}
	for i := range is {
		is[i].File = ""
	}
	// The order of the other settings must not change, because the last of two counts.
	follows := func(key, value string) bool {
		name := key[strings.LastIndexByte(key, '.')+1:]
		return strings.HasPrefix(key, "branch.") && slices.Contains(followed, name) && !strings.Contains(value, ":")
	}
	rest := func(all []umpire.GitSetting) (left []umpire.GitSetting) {
		for _, s := range all {
			if !follows(s.Key, s.Value) {
				left = append(left, s)
			}
		}
		return left
	}
	return slices.Equal(rest(was), rest(is))
}
