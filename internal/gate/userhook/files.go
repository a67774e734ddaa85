package userhook

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/umpirehq/umpire/internal/rulefile"
)

// FilesOf returns the files that a hook's command names, seen from the root of a project, and the targets of links
// among them, with slashes. A missing file counts if the command names it by a path.
func FilesOf(h *rulefile.Hook, root string) []string {
	var named []string
	for _, word := range strings.FieldsFunc(h.Command, endsWord) {
		path := word
		if !filepath.IsAbs(path) {
			path = filepath.Join(root, path)
		}
		if !isProgramFile(path, word) {
			continue
		}
		named = append(named, filepath.ToSlash(path))
		if target, err := filepath.EvalSymlinks(path); err == nil && target != path {
			named = append(named, filepath.ToSlash(target))
		}
	}
	return named
}

func endsWord(r rune) bool { return strings.ContainsRune(" \t\n;|&<>()\"'`$=", r) }

func isProgramFile(path, word string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return strings.Contains(word, "/") && !strings.HasPrefix(word, "-")
	}
	return info.Mode().IsRegular()
}
