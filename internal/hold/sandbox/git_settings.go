package sandbox

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/files/gitdir"
)

// maxGitSettings limits how many settings files are followed.
const maxGitSettings = 100

// follow guards the files and hook folders in writable folders that git's settings refer
// to. Each setting counts for every work tree here, because those of linked work trees
// and submodules are stored elsewhere, and the user's own apply to all.
func (g *guarded) follow(home string) {
	files := append(g.settings, "/etc/gitconfig")
	if home != "" {
		files = append(files, filepath.Join(home, ".gitconfig"), filepath.Join(home, ".config/git/config"))
	}
	for i := 0; i < len(files) && i < maxGitSettings; i++ {
		settings, _ := gitdir.ReadConfig(files[i]) // git ignores files that it cannot read
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

// within guards a path if it is in a writable folder.
func (g *guarded) within(path string, add func(root, name string)) {
	for _, root := range g.roots {
		if files.Within(root, path) && path != root {
			add(root, strings.TrimPrefix(path, root+"/"))
			return
		}
	}
}

// addFile guards a file. Git does not read a folder as settings, so an empty folder can
// block the path of a missing file.
func (g *guarded) addFile(root, name string) {
	if path := filepath.Join(root, name); isPresent(path) {
		g.add(root, name)
	} else {
		g.missing = append(g.missing, path)
	}
}

// gitPath resolves a path in git's settings.
func gitPath(value, base, home string) string {
	if rest, found := strings.CutPrefix(value, "~/"); found {
		return filepath.Join(home, rest)
	}
	if filepath.IsAbs(value) {
		return filepath.Clean(value)
	}
	return filepath.Join(base, value)
}
