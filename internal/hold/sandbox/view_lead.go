package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/umpirehq/umpire/internal/files"
)

// Lead resolves the shown paths and further ones, and returns the links on the way inside
// hidden homes. A link without a target stands for an empty folder. Lead skips paths
// through a link in a writable folder, because a command could have made it, and paths
// that would expose a whole home.
func (v *View) Lead(homes, writable, further []string) (plain []string, stubs []files.Link) {
	add := func(path string, empty bool) {
		to, err := files.Follow(path, true)
		if err != nil || to.Process || slices.ContainsFunc(to.Links, func(l files.Link) bool {
			return files.WithinAny(writable, l.Path)
		}) {
			return
		}
		switch {
		case empty:
			to.Links = append(to.Links, files.Link{Path: to.Path})
		case files.HoldsAny(to.Path, homes) || slices.Contains(plain, to.Path):
			return
		default:
			plain = append(plain, to.Path)
		}
		for _, l := range to.Links {
			if files.WithinAny(homes, l.Path) && !slices.Contains(stubs, l) {
				stubs = append(stubs, l)
			}
		}
	}
	for _, path := range v.Empty {
		add(path, true)
	}
	for _, path := range slices.Concat(v.Shown, further) {
		add(path, false)
	}
	return plain, stubs
}

// makeStubs creates links and empty folders in hidden homes where nothing is visible.
func makeStubs(stubs []files.Link) {
	for _, s := range stubs {
		dir := filepath.Dir(s.Path)
		if s.Target == "" {
			dir = s.Path
		}
		err := os.MkdirAll(dir, 0o755) // if it fails, the program reports the missing folder
		if _, e := os.Lstat(s.Path); err == nil && errors.Is(e, os.ErrNotExist) {
			_ = os.Symlink(s.Target, s.Path) // as above
		}
	}
}
