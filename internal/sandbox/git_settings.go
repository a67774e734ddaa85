package sandbox

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The limits of following git's settings.
const (
	maxGitConfig   = 1 << 20
	maxGitSettings = 100
)

// follow guards what git's settings name in the writable folders: files with further
// settings, and folders with hooks. Settings count for every work tree here, since those
// of a linked one or of a submodule stand elsewhere, and a person's own for all.
func (g *guarded) follow(home string) {
	files := append(g.settings, "/etc/gitconfig")
	if home != "" {
		files = append(files, filepath.Join(home, ".gitconfig"), filepath.Join(home, ".config/git/config"))
	}
	for i := 0; i < len(files) && i < maxGitSettings; i++ {
		for _, s := range gitSettings(files[i]) {
			switch {
			case s.is("core", "hooksPath"):
				for _, top := range g.tops {
					if dir := gitPath(s.value, top, home); dir != top {
						g.within(dir, g.add)
					}
				}
			case s.is("include", "path"), s.is("includeIf", "path"):
				file := gitPath(s.value, filepath.Dir(files[i]), home)
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
		if below(path, root) && path != root {
			add(root, strings.TrimPrefix(path, root+"/"))
			return
		}
	}
}

// addFile guards a file. Git takes no folder for one, so that nothing can stand in the
// place of one that is missing.
func (g *guarded) addFile(root, name string) {
	if path := filepath.Join(root, name); present(path) {
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

// A gitSetting is a line of git's settings (git-config(1)).
type gitSetting struct{ section, key, value string }

func (s *gitSetting) is(section, key string) bool {
	return strings.EqualFold(s.section, section) && strings.EqualFold(s.key, key)
}

// gitSettings reads a file of settings, as far as it can be read.
func gitSettings(file string) (all []gitSetting) {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	section := ""
	for lines := bufio.NewScanner(io.LimitReader(f, maxGitConfig)); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if header, found := strings.CutPrefix(line, "["); found {
			section, line = gitSection(header)
		}
		if key, value, found := strings.Cut(line, "="); found {
			all = append(all, gitSetting{section: section, key: strings.TrimSpace(key), value: gitValue(value)})
		}
	}
	return all
}

// gitSection is the name of a section, without the quoted part, and what follows it.
func gitSection(header string) (name, rest string) {
	end := "]"
	if strings.Contains(header, `"]`) {
		end = `"]`
	}
	inner, rest, _ := strings.Cut(header, end)
	name, _, _ = strings.Cut(inner, `"`)
	return strings.TrimSpace(name), strings.TrimSpace(rest)
}

// gitValue is a value without quotes and comments.
func gitValue(text string) string {
	text = strings.TrimSpace(text)
	if quoted, found := strings.CutPrefix(text, `"`); found {
		text, _, _ = strings.Cut(quoted, `"`)
		return text
	}
	if i := strings.IndexAny(text, "#;"); i >= 0 {
		text = text[:i]
	}
	return strings.TrimSpace(text)
}
