package sandbox

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/gitdir"
)

// maxGitSettings bounds the files of settings that are followed.
const maxGitSettings = 100

// follow guards what git's settings name in the writable folders: files with further
// settings, and folders with hooks. Settings count for every work tree here, since those
// of a linked one or of a submodule stand elsewhere, and a person's own for all.
func (g *guarded) follow(home string) {
	files := append(g.settings, "/etc/gitconfig")
	if home != "" {
		files = append(files, filepath.Join(home, ".gitconfig"), filepath.Join(home, ".config/git/config"))
	}
	for i := 0; i < len(files) && i < maxGitSettings; i++ {
		settings, _ := gitdir.ReadConfig(files[i]) // what git cannot read it does not follow
		for _, s := range settings {
			switch {
			case s.Key == "core.hookspath":
				for _, top := range g.tops {
					if dir := gitPath(s.Value, top, home); dir != top {
						g.within(dir, g.add)
					}
				}
			case gitdir.IsInclude(s):
				file := gitPath(s.Value, filepath.Dir(files[i]), home)
				if !slices.Contains(files, file) {
					files = append(files, file)
					g.within(file, g.addFile)
				}
			}
		}
	}
}

// within guards a path if it lies in a writable folder.
func (g *guarded) within(path string, add func(root, name string)) {
	for _, root := range g.roots {
		if files.Within(root, path) && path != root {
			add(root, strings.TrimPrefix(path, root+"/"))
			return
		}
	}
}

// addFile guards a file. Git does not read a folder as settings, so an empty one can block
// the place of a missing file.
func (g *guarded) addFile(root, name string) {
	if path := filepath.Join(root, name); isPresent(path) {
		g.add(root, name)
	} else {
		g.missing = append(g.missing, path)
	}
}

// gitPath is a path as git reads it in settings.
func gitPath(value, base, home string) string {
	if rest, found := strings.CutPrefix(value, "~/"); found {
		return filepath.Join(home, rest)
	}
	if filepath.IsAbs(value) {
		return filepath.Clean(value)
	}
	return filepath.Join(base, value)
}
