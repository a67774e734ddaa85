package sandbox

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/umpirehq/umpire/internal/files"
)

// Sees returns a function that reports whether a trial in a workspace sees a path (with links resolved). It
// sees everything outside of homes, and in homes the paths in the tables, the caches, and the paths that the
// user listed. Paths from a command's variables are ignored. The function reads the disk on its first call.
func Sees(home string, workspace, listed []string) func(path string) bool {
	look := sync.OnceValues(func() (homes, shown []string) {
		if plain, err := filepath.EvalSymlinks(home); err == nil {
			home = plain
		}
		view := ViewOf(home, nil, workspace, listed)
		shown, _ = view.Lead(view.Hidden, workspace, nil)
		for _, c := range Caches(home, func(string) string { return "" }) {
			if plain, err := filepath.EvalSymlinks(c.Folder); err == nil && !files.HoldsAny(plain, view.Hidden) {
				shown = append(shown, plain)
			}
		}
		return view.Hidden, shown
	})
	return func(path string) bool {
		homes, shown := look()
		return files.WithinAny(shown, path) || !slices.ContainsFunc(homes, func(home string) bool {
			// The file system may be case-insensitive.
			return len(path) >= len(home) && strings.EqualFold(path[:len(home)], home) && (path + "/")[len(home)] == '/'
		})
	}
}
