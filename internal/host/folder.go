package host

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/umpirehq/umpire"
)

// A Root is the user's folder that contains a host's folder.
type Root uint8

// The roots. Each is a real folder of this user: see [Folder].
const (
	rootSettings Root = iota // the host's settings, ~/.claude for Claude Code
	rootScratch              // its folder for temporary files, /tmp/claude-UID
)

// A Folder is a part of the file system that belongs to the host: it made the folder, and tells its
// model to use it.
type Folder struct {
	Root Root
	// Path is the root with links resolved. A Folder without a Path does not match any file.
	// Setting it implies a check that the folder belongs to this user and is not in the project.
	Path string
	// Pattern selects the files below the root.
	Pattern string
	// Writes is set if the model is meant to write there; Plan if plan mode writes its plan there.
	Writes, Plan bool
	Why          string
}

// FoldersIn returns the host's own folders below the given roots; "" means the root was not found.
func (h *Host) FoldersIn(settings, scratch string) []Folder {
	var found []Folder
	for _, f := range h.Folders {
		f.Path = settings
		if f.Root == rootScratch {
			f.Path = scratch
		}
		if f.Path != "" {
			found = append(found, f)
		}
	}
	return found
}

// findFolder returns the folder that an access to a path is about. It resolves links, and a tree
// that is larger than one file never belongs to the host.
func findFolder(own []Folder, a *umpire.Access) *Folder {
	if a == nil || !a.Paths() || a.Resolved == "" || a.Glob {
		return nil
	}
	for i := range own {
		rest, below := strings.CutPrefix(a.Resolved, own[i].Path+"/")
		if !below || own[i].Path == "" {
			continue
		}
		if ok, err := doublestar.Match(own[i].Pattern, rest); ok && err == nil {
			return &own[i]
		}
	}
	return nil
}
