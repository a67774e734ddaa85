package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/gitdir"
)

// This file looks at repositories that a command has made. Git, an editor or a prompt that
// looks at a project looks into those in it as well, and runs what their settings name.

// plainSettings are those that name no program, by section; * is all keys of it.
var plainSettings = map[string]string{
	"core": "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol safecrlf " +
		"quotepath abbrev worktree sharedrepository",
	"remote":     "url pushurl fetch push mirror tagopt prune promisor partialclonefilter gh-resolved",
	"branch":     "remote merge rebase description gh-merge-base vscode-merge-base",
	"user":       "name email signingkey",
	"submodule":  "url active branch",
	"extensions": "*", "advice": "*", "color": "*",
	"lfs": "repositoryformatversion access", "init": "defaultbranch", "pull": "rebase ff", "push": "default autosetupremote", "commit": "gpgsign", "tag": "gpgsign",
	"gc": "auto autodetach", "maintenance": "auto strategy", "receive": "denycurrentbranch denynonfastforwards denydeletes",
}

// namesPrograms reports whether a file of settings has more than plain ones, or cannot be
// read.
func namesPrograms(file string) bool {
	settings, err := gitdir.ReadConfig(file)
	for _, s := range settings {
		section, _, _ := strings.Cut(s.Key, ".")
		plain := strings.Fields(plainSettings[section])
		if !slices.Contains(plain, "*") && !slices.Contains(plain, s.Key[strings.LastIndexByte(s.Key, '.')+1:]) {
			return true
		}
	}
	return err != nil
}

// maxFolders bounds a search through everything.
const maxFolders = 50_000

// lookForRepositories sets aside what makes git run programs in repositories that commands
// have made.
func (b *Box) lookForRepositories() {
	if b.cmd == nil || b.cmd.Process == nil {
		return // nothing ran
	}
	for _, root := range b.folders {
		found := gitFolders(root)
		if b.indexes != indexesOf(b.known) {
			found = append(found, allGitFolders(root)...) // one may be part of another repository, wherever it lies
		}
		for _, dir := range found {
			dir, err := ground.GitDir(dir)
			if err == nil && belowAny(dir, b.folders) && !slices.Contains(b.known, dir) {
				b.known = append(b.known, dir)
				b.disarm(dir)
			}
		}
	}
}

// disarm sets aside what makes git run programs in one repository.
func (b *Box) disarm(dir string) {
	for _, name := range []string{"config", "config.worktree"} {
		if namesPrograms(filepath.Join(dir, name)) {
			b.made(filepath.Join(dir, name), filepath.Join(dir, name))
		}
	}
	hooks, _ := os.ReadDir(filepath.Join(dir, "hooks")) // most have none
	for _, e := range hooks {
		if !strings.HasSuffix(e.Name(), ".sample") {
			b.made(filepath.Join(dir, "hooks"), filepath.Join(dir, "hooks", e.Name()))
		}
	}
	to, err := ground.ReadLine(filepath.Join(dir, "commondir"))
	if !errors.Is(err, fs.ErrNotExist) && (err != nil || !slices.Contains(b.known, gitPath(to, dir, ""))) {
		b.made(filepath.Join(dir, "commondir"), filepath.Join(dir, "commondir"))
	}
}

// made sets a path aside for a file that a command made, and says so; not what was there
// before the first command of the session, though it was not found then, nor what a person
// allowed by its name.
func (b *Box) made(path, file string) {
	if info, err := os.Lstat(file); err != nil || changed(info) < b.since {
		return
	}
	if slices.ContainsFunc(b.allowed, func(open string) bool { return below(open, path) }) {
		return
	}
	note := fmt.Sprintf("the command made %s, by which git runs programs without anyone asking", path)
	if err := b.setAside(path); err != nil {
		note += fmt.Sprintf("; it could not be renamed: %v", err)
	} else {
		note += "; it is " + path + untrusted + " now"
	}
	b.Notes = append(b.Notes, note)
}

// indexesOf says when the indexes of repositories last changed.
func indexesOf(dirs []string) string {
	var b strings.Builder
	for _, dir := range dirs {
		if info, err := os.Lstat(filepath.Join(dir, "index")); err == nil {
			fmt.Fprintln(&b, dir, info.Size(), changed(info))
		}
	}
	return b.String()
}

// allGitFolders are the git directories below a folder, however deep. What cannot be read is
// not looked into by others either.
func allGitFolders(root string) (found []string) {
	looked := 0
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err == nil && d.Name() == ".git":
			found = append(found, path)
			if d.IsDir() {
				return fs.SkipDir
			}
		case err == nil && d.IsDir():
			if looked++; looked > maxFolders {
				return fs.SkipAll
			}
		}
		return nil
	})
	return found
}
