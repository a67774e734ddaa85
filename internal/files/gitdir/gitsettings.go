package gitdir

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// Limits on the files that a repository's settings come from.
const (
	maxConfigFiles = 300
	maxModuleDepth = 6
)

// ReadSettings returns the repository settings that git would read in a folder: its
// configuration, that of its worktree, their includes, and the configurations of its
// submodules, wherever these have their git directories. Without a repository there are no
// settings. It finds the repository like git does, so a bare one inside another counts too.
// It ignores the settings of the person and the system, because an attacker who can change
// those needs no repository. An error says that something could not be read, although git may
// still understand it.
//
// ReadSettings drops core.worktree if it is redundant, and adds hook.post-index-change if that
// hook exists, since even a read-only git command may run it.
func ReadSettings(dir, home string) ([]umpire.GitSetting, error) {
	r := settingsReader{home: home}
	dir, err := files.Canonical(dir)
	if err != nil {
		return nil, err
	}
	for {
		if r.folder(dir) || r.err != nil {
			return r.found, r.err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return r.found, r.err
		}
		dir = parent
	}
}

// A settingsReader collects the settings of one repository.
type settingsReader struct {
	home  string
	found []umpire.GitSetting
	files int
	err   error
}

func (r *settingsReader) noteError(err error) {
	if r.err == nil {
		r.err = err
	}
}

// folder reads the repository of a folder, and reports whether git would stop looking further
// up.
func (r *settingsReader) folder(dir string) bool {
	dotGit := filepath.Join(dir, ".git")
	info, err := os.Stat(dotGit)
	if err == nil && !info.IsDir() {
		gitDir, err := Find(dotGit)
		if err != nil {
			return true // git refuses to go on
		}
		r.repository(gitDir, dir)
		return true
	}
	if err == nil && r.repository(dotGit, dir) {
		return true
	}
	return r.repository(dir, "")
}

// repository reads a git directory, and reports whether git recognizes it. It also reads a
// folder that only resembles one, because git has the final say.
func (r *settingsReader) repository(gitDir, worktree string) bool {
	if !files.Exists(gitDir, "HEAD") {
		return false // the case for nearly all folders on the way up
	}
	head, err := files.ReadSmall(filepath.Join(gitDir, "HEAD"), MaxFile)
	if err != nil {
		if target, linkErr := os.Readlink(filepath.Join(gitDir, "HEAD")); linkErr != nil ||
			!strings.HasPrefix(target, "refs/") {
			return false
		}
		head = []byte("ref: refs/")
	}
	common := gitDir
	if line, err := files.ReadLine(filepath.Join(gitDir, "commondir")); err == nil {
		common = files.AbsoluteFrom(gitDir, line)
	}
	start := len(r.found)
	r.file(filepath.Join(common, "config"))
	r.file(filepath.Join(gitDir, "config.worktree"))
	hooks, hashSize := filepath.Join(common, "hooks"), sha1Size
	for _, s := range r.found[start:] {
		switch {
		case s.Key == "core.hookspath":
			hooks = r.expand(s.Value, cmp.Or(worktree, gitDir))
		case s.Key == "extensions.objectformat" && strings.EqualFold(s.Value, "sha256"):
			hashSize = sha256Size
		}
	}
	r.dropWorktree(start, gitDir, worktree)
	r.hook(filepath.Join(hooks, "post-index-change"))
	r.modules(filepath.Join(common, "modules"), 0)
	r.links(gitDir, worktree, hashSize)
	return hasObjectsAndRefs(common) && namesCommit(string(head))
}

func hasObjectsAndRefs(dir string) bool {
	return files.IsFolder(filepath.Join(dir, "objects")) && files.IsFolder(filepath.Join(dir, "refs"))
}

// namesCommit reports whether git accepts the content of HEAD.
func namesCommit(head string) bool {
	return strings.HasPrefix(head, "ref:") || len(head) >= 40 && strings.Trim(head[:40], "0123456789abcdefABCDEF") == ""
}

// dropWorktree removes core.worktree if it names the folder that led here, which git writes for
// submodules.
func (r *settingsReader) dropWorktree(start int, gitDir, worktree string) {
	kept := r.found[:start]
	for _, s := range r.found[start:] {
		if s.Key == "core.worktree" && worktree != "" {
			if path, err := files.Canonical(files.AbsoluteFrom(gitDir, s.Value)); err == nil && path == worktree {
				continue
			}
		}
		kept = append(kept, s)
	}
	r.found = kept
}

// hook adds a setting for a hook that git can run.
func (r *settingsReader) hook(name string) {
	info, err := os.Stat(name)
	if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
		r.found = append(r.found, umpire.GitSetting{Key: "hook.post-index-change", Value: name, File: name})
	}
}

// modules reads the configurations of submodules, because git looks into these too.
func (r *settingsReader) modules(dir string, depth int) {
	folder, _ := files.OpenFolder(dir)
	if folder == nil || r.err != nil {
		return
	}
	defer folder.Close()
	names, err := folder.Readdirnames(maxConfigFiles)
	if err != nil && len(names) > 0 || depth > maxModuleDepth {
		r.noteError(umpire.Errorf("%q: too much in it", dir))
		return
	}
	for _, name := range names {
		module := filepath.Join(dir, name)
		if !files.Exists(module, "HEAD") {
			r.modules(module, depth+1)
			continue
		}
		start := len(r.found)
		r.file(filepath.Join(module, "config"))
		for i := start; i < len(r.found); i++ {
			if r.found[i].Key == "core.worktree" {
				r.found = append(r.found[:i], r.found[i+1:]...)
				i--
			}
		}
		r.hook(filepath.Join(module, "hooks", "post-index-change"))
		r.modules(filepath.Join(module, "modules"), depth+1)
	}
}

// file reads a configuration and its includes.
func (r *settingsReader) file(name string) {
	if r.err != nil {
		return
	}
	if r.files++; r.files > maxConfigFiles {
		r.noteError(umpire.Errorf("%q: more than %d files of settings", name, maxConfigFiles))
		return
	}
	settings, err := ReadConfig(name)
	r.found = append(r.found, settings...)
	if err != nil {
		r.noteError(err)
		return
	}
	for _, s := range settings {
		if IsInclude(s) {
			r.file(r.expand(s.Value, filepath.Dir(name)))
		}
	}
}

// ReadConfig reads one git settings file without its includes. A missing file has no settings.
// On an error it also returns the settings before the malformed part.
func ReadConfig(name string) ([]umpire.GitSetting, error) {
	data, err := files.ReadSmall(name, MaxFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var found []umpire.GitSetting
	if err == nil {
		err = parseConfig(string(data), func(key, value string) {
			found = append(found, umpire.GitSetting{Key: key, Value: value, File: name})
		})
	}
	if err != nil {
		return found, umpire.Errorf("%q: %w", name, err)
	}
	return found, nil
}

// IsInclude reports whether a setting includes another file. It assumes that a condition may
// hold.
func IsInclude(s umpire.GitSetting) bool {
	return strings.HasPrefix(s.Key, "include.") ||
		strings.HasPrefix(s.Key, "includeif.") && strings.HasSuffix(s.Key, ".path")
}

// expand makes the path in a setting absolute.
func (r *settingsReader) expand(path, from string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		return r.home + path[1:]
	}
	if strings.HasPrefix(path, "~") || strings.HasPrefix(path, "%(") {
		r.noteError(umpire.Errorf("%q: unknown location", path))
	}
	return files.AbsoluteFrom(from, path)
}

// FindWorktree returns the top folder of the work tree around a folder, as git prints it. It
// returns "" if there is no work tree or in case of doubt.
func FindWorktree(dir string) string {
	dir, err := files.Canonical(dir)
	if err != nil {
		return ""
	}
	top := files.Ancestor(dir, func(dir string) bool { return files.Exists(dir, ".git") })
	if top == "" {
		return ""
	}
	dotGit := filepath.Join(top, ".git")
	if info, err := os.Stat(dotGit); err != nil || info.IsDir() && !hasObjectsAndRefs(dotGit) {
		return ""
	}
	return top
}
