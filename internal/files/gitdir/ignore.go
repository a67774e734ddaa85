package gitdir

import (
	"os"
	"path/filepath"
	"strings"
)

// maxIgnore is the maximum size of a .gitignore.
const maxIgnore = 1 << 20

// Ignores reports whether the .gitignore at a worktree's root plainly names a folder, given by its path below
// the root. It considers only lines without wildcards, and a file with a negated pattern ignores nothing.
func Ignores(root, folder string) bool {
	path := filepath.Join(root, ".gitignore")
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || info.Size() > maxIgnore {
		return false
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	base, ignored := filepath.Base(folder), false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, " \t\r\n")
		if strings.HasPrefix(line, "!") {
			return false
		}
		name := strings.TrimSuffix(strings.TrimPrefix(line, "**/"), "/")
		ignored = ignored || name != "" && (name == base || strings.TrimPrefix(name, "/") == folder)
	}
	return ignored
}
