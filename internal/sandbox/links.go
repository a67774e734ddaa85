package sandbox

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire/internal/files"
)

// This file is about files in the workspace that have another name outside of it, as pnpm
// and uv make them from their stores: what a command writes to one, it writes to all.

// maxLinked is how many such files are made read-only one by one.
const maxLinked = 200

// storeFolders hold what package managers have put there.
const storeFolders = "node_modules .venv venv site-packages"

// coverLinks returns the paths to make read-only so that no file is written through a name
// outside, and what to tell a command that may want to write there. Beyond some files it is
// the folder that a package manager keeps them in.
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
			folder = path // the others in it are the person's own
		}
		if !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	folders = files.Outermost(folders)
	return folders, note + fmt.Sprintf(", nor anything else in %s", strings.Join(folders[:min(len(folders), 3)], ", "))
}

// storeFolder is the outermost folder of a package manager that a file lies in, or else the
// folder that it lies in.
func storeFolder(path string, roots []string) string {
	folder := filepath.Dir(path)
	for dir := folder; !slices.Contains(roots, dir) && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if slices.Contains(strings.Fields(storeFolders), filepath.Base(dir)) {
			folder = dir
		}
	}
	return folder
}

// otherNames are the further names, in the folders that were looked through, of files that
// are guarded.
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
