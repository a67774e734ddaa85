package tool

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

const (
	ignoreFile = ".gitignore"
	// maxIgnoreFile and maxIgnoreRules limit the comparisons that a repository can
	// force on a search for every file.
	maxIgnoreFile  = 256 << 10
	maxIgnoreRules = 5000
)

// An ignoreRule is one line of a .gitignore file.
type ignoreRule struct {
	base     string // folder of the file, from the top; "" is the top
	pattern  string
	keep     bool // written with a !: not ignored after all
	folders  bool // only folders
	anchored bool // compared with the whole path from base, not with the name
}

// Ignores are the rules that hold in a folder, outer files first: the last one that
// matches wins. Paths have slashes and start at the top.
type ignores []ignoreRule

// with adds the rules of a file in a folder.
func (rules ignores) with(base string, text []byte) ignores {
	added := slices.Clip(rules)
	for line := range strings.SplitSeq(string(text), "\n") {
		if r, ok := readIgnore(base, line); ok && len(added) < maxIgnoreRules {
			added = append(added, r)
		}
	}
	return added
}

// readIgnore reads one line of a .gitignore file.
func readIgnore(base, line string) (ignoreRule, bool) {
	line = strings.TrimSuffix(line, "\r")
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	if line == "" || line[0] == '#' {
		return ignoreRule{}, false
	}
	r := ignoreRule{base: base}
	line, r.keep = strings.CutPrefix(line, "!")
	line, r.folders = strings.CutSuffix(line, "/")
	r.anchored = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if strings.HasSuffix(line, "/**") {
		line += "/*" // match the content of the folder, not the folder itself
	}
	r.pattern = plainBraces(line)
	return r, line != "" && doublestar.ValidatePattern(r.pattern)
}

// plainBraces escapes braces, because git takes them literally.
func plainBraces(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			out.WriteByte(c)
			i++
			out.WriteByte(text[i])
		case c == '{' || c == '}':
			out.WriteByte('\\')
			out.WriteByte(c)
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}

// match reports whether a path is ignored.
func (rules ignores) match(name string, folder bool) bool {
	for i := len(rules) - 1; i >= 0; i-- {
		if rules[i].match(name, folder) {
			return !rules[i].keep
		}
	}
	return false
}

func (r *ignoreRule) match(name string, folder bool) bool {
	if r.folders && !folder {
		return false
	}
	if r.base != "" {
		rest, below := strings.CutPrefix(name, r.base+"/")
		if !below {
			return false
		}
		name = rest
	}
	if !r.anchored {
		name = path.Base(name)
	}
	ok, err := doublestar.Match(r.pattern, name)
	return ok && err == nil
}

// ignoresAbove returns the rules of the folders from the project's root down to the
// parent of from. Top is the path of the search relative to the root.
func (s *Set) ignoresAbove(from string) (rules ignores, top string) {
	base, rest := s.options.anchor(from)
	if base == filepath.VolumeName(from)+string(filepath.Separator) {
		return nil, ""
	}
	dir, err := os.OpenRoot(base)
	if err != nil {
		return nil, ""
	}
	defer func() { _ = dir.Close() }() // only looked through
	if text, err := s.ownIgnores(); err == nil {
		rules = rules.with("", text)
	}
	if text, err := excludeFile(dir); err == nil {
		rules = rules.with("", text)
	}
	for part := range strings.SplitSeq(filepath.ToSlash(rest), "/") {
		if part == "" {
			break
		}
		if text, err := readIgnoreFile(dir, ignoreFile); err == nil {
			rules = rules.with(top, text)
		}
		next, err := descendInto(dir, part, false)
		if err != nil {
			break
		}
		_ = dir.Close() // only looked through
		dir, top = next, path.Join(top, part)
	}
	return rules, top
}

// ownIgnores reads the person's list for all repositories, where git looks for it by default.
func (s *Set) ownIgnores() ([]byte, error) {
	config := filepath.Join(s.options.Home, ".config")
	for _, pair := range s.options.Env {
		if dir, found := strings.CutPrefix(pair, "XDG_CONFIG_HOME="); found && filepath.IsAbs(dir) {
			config = dir
		}
	}
	if !filepath.IsAbs(config) {
		return nil, fs.ErrNotExist
	}
	dir, err := os.OpenRoot(filepath.Join(config, "git"))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return readIgnoreFile(dir, "ignore")
}

// excludeFile reads the repository's own list, which is not checked in.
func excludeFile(dir *os.Root) ([]byte, error) {
	for _, name := range []string{".git", "info"} {
		next, err := descendInto(dir, name, false)
		if err != nil {
			return nil, err
		}
		defer next.Close()
		dir = next
	}
	return readIgnoreFile(dir, "exclude")
}

// readIgnoreFile reads a list of ignored files whole; a file that is too large, or not a
// regular one, counts as missing.
func readIgnoreFile(dir *os.Root, name string) ([]byte, error) {
	f, info, err := openRegular(dir, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > maxIgnoreFile {
		return nil, errors.New("is too large")
	}
	return io.ReadAll(io.LimitReader(f, maxIgnoreFile))
}
