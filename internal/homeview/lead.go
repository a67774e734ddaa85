package homeview

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/umpirehq/umpire/internal/files"
)

// Lead returns where what is shown, and further paths, lead, and the links on the way that lie in
// hidden homes. A link without a target stands for an empty folder. A path that leads through a link
// in a writable folder is left out, since a command could have made that, and so is one by which a
// home would be seen as a whole.
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

// MakeStubs makes links and empty folders in homes that are hidden, where nothing is seen in their places.
func MakeStubs(stubs []files.Link) {
	for _, s := range stubs {
		dir := filepath.Dir(s.Path)
		if s.Target == "" {
			dir = s.Path
		}
		err := os.MkdirAll(dir, 0o755) // without it the program says what it misses
		if _, e := os.Lstat(s.Path); err == nil && errors.Is(e, os.ErrNotExist) {
			_ = os.Symlink(s.Target, s.Path) // as above
		}
	}
}
