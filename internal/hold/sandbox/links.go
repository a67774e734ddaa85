package sandbox

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire/internal/files"
)

// This file deals with hard links between the workspace and other folders, such as the stores of
// pnpm and uv: a write to one name changes the file under all its names.

// maxLinked limits how many such files are made read-only one by one.
const maxLinked = 200

// storeFolders are the folders that package managers fill.
const storeFolders = "node_modules .venv venv site-packages"

// coverLinks returns paths to make read-only, to prevent writes through hard links to
// files outside, and a note for a command that may need to write there. Beyond maxLinked
// files, it returns the package managers' folders instead.
func (found *survey) coverLinks(roots []string) (paths []string, note string) {
	for _, l := range found.links {
		if uint64(len(l.names)) < l.count {
			paths = append(paths, l.names...)
		}
	}
	slices.Sort(paths)
	if len(paths) == 0 {
		return nil, ""
	}
	note = fmt.Sprintf("%d files, such as %s, have another name outside of the workspace (hard links), so the "+
		"command could not change them", len(paths), paths[0])
	if len(paths) <= maxLinked {
		return paths, note
	}
	var folders []string
	for _, path := range paths {
		folder := storeFolder(path, roots)
		if slices.Contains(roots, folder) {
			folder = path // the others in it are the user's own
		}
		if !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	folders = files.Outermost(folders)
	return folders, note + fmt.Sprintf(", nor anything else in %s", strings.Join(folders[:min(len(folders), 3)], ", "))
}

// storeFolder returns the outermost package manager's folder that holds a file, or else
// the file's parent.
func storeFolder(path string, roots []string) string {
	folder := filepath.Dir(path)
	for dir := folder; !slices.Contains(roots, dir) && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if slices.Contains(strings.Fields(storeFolders), filepath.Base(dir)) {
			folder = dir
		}
	}
	return folder
}

// otherNames returns the other names of guarded files in the searched folders.
func (found *survey) otherNames(guarded []string) (names []string) {
	for _, l := range found.links {
		isGuarded := func(name string) bool { return files.WithinAny(guarded, name) }
		if len(l.names) > 1 && slices.ContainsFunc(l.names, isGuarded) {
			names = append(names, l.names...)
		}
	}
	slices.Sort(names)
	return names
}
