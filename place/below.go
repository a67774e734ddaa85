package place

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// maxBelow is the maximum number of files and folders to check for links below one tree. It is
// a large project with its dependencies, read in a fraction of a second.
const maxBelow = 50_000

// systemTrees hold the programs and libraries of the machine. Tools create links into them,
// such as the interpreter of a virtual environment.
var systemTrees = []string{"/usr/", "/bin/", "/lib/", "/lib64/", "/opt/", "/nix/store/", "/Library/", "/System/"}

var errManyBelow = errors.New("too many files")

// Below lists the files and folders below a folder, by absolute paths and without following
// links. It skips folders that cannot be read. whole is false if there are more than limit.
func Below(folder string, limit int) (paths []string, whole bool) {
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || path == folder {
			return nil //nolint:nilerr // an unreadable folder is not searched either
		}
		if len(paths) == limit {
			return errManyBelow
		}
		paths = append(paths, path)
		return nil
	})
	return paths, err == nil
}

// linkBelow returns a message about a link below a folder that leads out of the project, or "".
// A tree too large to search may contain one.
func (b *Bounds) linkBelow(root string) umpire.Phrase {
	seen, out := 0, umpire.Phrase("")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // an unreadable folder is not searched either
		}
		if seen++; seen > maxBelow {
			return errManyBelow
		}
		if entry.Type()&fs.ModeSymlink == 0 {
			return nil
		}
		target, place, err := b.locate(path, umpire.KindRead)
		if err != nil || place == umpire.PlaceOutside && !belowAny(target, systemTrees) {
			out = leadsOut(path, target)
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		return umpire.Say("%q holds more than %s files, and a link among them could lead out of the project",
			files.Clip(root), maxBelow)
	}
	return out
}

func belowAny(path string, trees []string) bool {
	for _, tree := range trees {
		if strings.HasPrefix(path, tree) {
			return true
		}
	}
	return false
}

func leadsOut(link, target string) umpire.Phrase {
	return umpire.Say("the link %q leads out of the project, to %q", files.Clip(link), files.Clip(target))
}
