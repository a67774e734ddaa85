package sandbox

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
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
		settings, _ := gitSettings(files[i]) // what cannot be read, git does not follow
		for _, s := range settings {
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

// gitSettings reads a file of settings. whole is false when there may be more in it than
// what was found.
func gitSettings(file string) (all []gitSetting, whole bool) {
	f, err := os.Open(file)
	if err != nil {
		return nil, errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	rest := &io.LimitedReader{R: f, N: maxGitConfig}
	lines := bufio.NewScanner(rest)
	section := ""
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if header, found := strings.CutPrefix(line, "["); found {
			section, line = gitSection(header)
		}
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		all = append(all, gitSetting{section: section, key: strings.TrimSpace(key), value: gitValue(value)})
	}
	return all, lines.Err() == nil && rest.N > 0
}

// gitSection is the name of a section, without the quoted part, and what follows it.
func gitSection(header string) (name, rest string) {
	end := strings.IndexAny(header, "] \t\"")
	if end < 0 {
		return header, ""
	}
	name, rest = header[:end], strings.TrimSpace(header[end:])
	if quoted, found := strings.CutPrefix(rest, `"`); found {
		rest = afterQuote(quoted)
	}
	return name, strings.TrimSpace(strings.TrimPrefix(rest, "]"))
}

// afterQuote is what follows the quote that ends a text.
func afterQuote(text string) string {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return text[i+1:]
		}
	}
	return ""
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
