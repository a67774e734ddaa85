package homeview

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/umpirehq/umpire/internal/files"
)

// Sees returns a function that reports whether a trial in a workspace sees a path without links: it does outside of
// homes, and in homes what the tables name, the caches, and what a person listed. What the variables of a command
// would add is left out. The function looks at the disk when it is first called.
func Sees(home string, workspace, listed []string) func(path string) bool {
	look := sync.OnceValues(func() (homes, shown []string) {
		if plain, err := filepath.EvalSymlinks(home); err == nil {
			home = plain
		}
		view := Of(home, nil, workspace, listed)
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
			// A disk may take letters of either case.
			return len(path) >= len(home) && strings.EqualFold(path[:len(home)], home) && (path + "/")[len(home)] == '/'
		})
	}
}
