package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/files/gitdir"
)

// A View is the visible part of homes.
type View struct {
	// Hidden are folders (with links resolved) that are hidden except for Shown and Empty.
	Hidden []string
	// Shown are visible files and folders in them. Links may lead to them.
	Shown []string
	// Empty are visible folders in them that only contain shown paths.
	Empty []string
}

// otherHomes hold the homes of all users.
var otherHomes = []string{"/root", "/home", "/Users"}

// systemFolders are needed by every command. A home that contains one of them is not hidden.
var systemFolders = []string{"/usr", "/etc", "/proc", "/sys", "/dev", "/run", "/tmp", "/var"}

// maxLinks limits how many links in one folder of programs are followed.
const maxLinks = 2000

// ViewOf returns the view of a command with an environment; its workspace is always visible. home is the user's,
// with links resolved, and listed are paths that the user wants visible as well; ~ stands for home.
func ViewOf(home string, env, workspace, listed []string) View {
	f := &finder{home: home, workspace: workspace}
	for _, dir := range append([]string{home}, otherHomes...) {
		plain, err := filepath.EvalSymlinks(dir)
		if err == nil && filepath.IsAbs(plain) && !files.HoldsAny(plain, systemFolders) &&
			!slices.Contains(f.view.Hidden, plain) {
			f.view.Hidden = append(f.view.Hidden, plain)
		}
	}
	if filepath.IsAbs(home) {
		f.view.Empty = append(f.view.Empty, home)
		for name := range strings.FieldsSeq(empties) {
			f.view.Empty = append(f.view.Empty, filepath.Join(home, name))
		}
		for _, name := range named() {
			f.addShown(filepath.Join(home, name))
		}
		f.showGitSettings()
	}
	for _, path := range listed {
		if rest, found := strings.CutPrefix(path, "~/"); found {
			path = filepath.Join(home, rest)
		}
		f.addShown(path)
	}
	f.showVariables(env)
	f.showWorktrees()
	f.view.Empty = slices.DeleteFunc(f.view.Empty, func(dir string) bool { return !files.IsFolder(dir) })
	return f.view
}

// A finder collects the visible paths.
type finder struct {
	home      string
	workspace []string
	view      View
}

// addShown shows a path, unless that would expose a whole home.
func (f *finder) addShown(path string) {
	path = filepath.Clean(path)
	if _, err := os.Lstat(path); err != nil || !filepath.IsAbs(path) || files.Within(path, f.home) ||
		files.HoldsAny(path, f.view.Hidden) || files.WithinAny(f.view.Shown, path) {
		return
	}
	f.view.Shown = append(f.view.Shown, path)
}

// homeOf returns the home that holds a path, or "".
func (f *finder) homeOf(path string) string {
	if f.home != "" && files.Within(f.home, path) {
		return f.home
	}
	if rest, found := strings.CutPrefix(path, "/home/"); found {
		name, _, _ := strings.Cut(rest, "/")
		return filepath.Join("/home", name)
	}
	if files.Within("/root", path) {
		return "/root"
	}
	return ""
}

// showTool shows the folder in the table that holds a path, or the path itself if there is none.
func (f *finder) showTool(path string) {
	if home := f.homeOf(path); home != "" {
		for _, name := range named() {
			if dir := filepath.Join(home, name); files.Within(dir, path) {
				f.addShown(dir)
				return
			}
		}
	}
	f.addShown(path)
}

// showVariables shows the folders in environment variables.
func (f *finder) showVariables(env []string) {
	values := map[string]string{}
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		values[name] = value
	}
	if dir := values["HOME"]; filepath.IsAbs(dir) {
		f.view.Empty = append(f.view.Empty, dir) // it may be a link
	}
	for _, v := range variables {
		for _, dir := range filepath.SplitList(values[v.name]) {
			if filepath.IsAbs(dir) && !files.WithinAny(f.workspace, dir) && files.Exists(dir, v.holds) {
				f.showTool(dir)
			}
		}
	}
	for _, dir := range filepath.SplitList(values["PATH"]) {
		if !filepath.IsAbs(dir) || files.WithinAny(f.workspace, dir) || strings.HasPrefix(dir, "/usr/bin") {
			continue
		}
		if f.homeOf(dir) != "" {
			f.showTool(dir)
		}
		f.showLinked(dir)
	}
}

// showLinked shows the programs to which links in a folder lead.
func (f *finder) showLinked(dir string) {
	plain, err := filepath.EvalSymlinks(dir)
	if err != nil || slices.Contains([]string{"/usr/bin", "/usr/sbin"}, plain) {
		return // the system's programs are not in homes
	}
	shown := files.WithinAny(f.view.Shown, plain)
	entries, _ := os.ReadDir(dir) // the command cannot read it either
	for _, e := range entries[:min(len(entries), maxLinks)] {
		if e.Type()&os.ModeSymlink == 0 {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if target, err := os.Readlink(path); shown && err == nil && filepath.Base(target) == target && target != ".." {
			continue // a program beside it, which is visible
		}
		to, err := files.Follow(path, true)
		made := func(l files.Link) bool { return files.WithinAny(f.workspace, l.Path) }
		if err != nil || f.homeOf(to.Path) == "" || to.Process || slices.ContainsFunc(to.Links, made) {
			continue
		}
		if above := filepath.Dir(to.Path); filepath.Base(above) == "bin" && filepath.Dir(above) != f.homeOf(to.Path) {
			f.showTool(filepath.Dir(above)) // with the program's libraries
			continue
		}
		f.showTool(to.Path)
	}
}

// gitNames are git's settings with paths of files or folders that git reads.
var gitNames = []string{
	"core.excludesfile", "core.attributesfile", "core.hookspath", "commit.template", "init.templatedir",
	"gpg.ssh.allowedsignersfile", "blame.ignorerevsfile", "mailmap.file",
}

// maxHomeSettings limits how many settings files are followed.
const maxHomeSettings = 50

// showGitSettings shows the paths in the user's git settings.
func (f *finder) showGitSettings() {
	all := []string{filepath.Join(f.home, ".gitconfig"), filepath.Join(f.home, ".config/git/config")}
	for i := 0; i < len(all) && i < maxHomeSettings; i++ {
		settings, _ := gitdir.ReadConfig(all[i]) // git ignores files that it cannot read
		for _, s := range settings {
			path := s.Value
			if rest, found := strings.CutPrefix(path, "~/"); found {
				path = filepath.Join(f.home, rest)
			} else if !filepath.IsAbs(path) {
				path = filepath.Join(filepath.Dir(all[i]), path)
			}
			include := gitdir.IsInclude(s)
			if include && !slices.Contains(all, path) {
				all = append(all, path)
			}
			if include || slices.Contains(gitNames, s.Key) {
				f.addShown(path)
			}
		}
	}
}

// showWorktrees shows the .git files of linked worktrees, because git would forget a
// worktree without its file.
func (f *finder) showWorktrees() {
	for _, dir := range f.workspace {
		for _, pattern := range []string{"worktrees/*/gitdir", ".git/worktrees/*/gitdir"} {
			for _, file := range files.Glob(dir, pattern) {
				path, err := files.ReadLine(file)
				if err != nil || filepath.Base(path) != ".git" {
					continue
				}
				if text, err := files.ReadLine(path); err == nil && text == "gitdir: "+filepath.Dir(file) {
					f.addShown(path)
				}
			}
		}
	}
}
