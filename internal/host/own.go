package host

import (
	"os"
	"path/filepath"
	"strconv"

	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/gitdir"
)

// findFolders finds the host's own folders on this machine: those below its settings, which
// are the registered ones or else the usual ones in the user's home directory. A folder counts
// where its links lead, where this user alone can write, and never in a project: a clone could
// bring one.
func (h *Host) findFolders(home, registered, project string) []Folder {
	settings := registered
	if settings == "" && home != "" {
		settings = filepath.Join(home, filepath.Dir(filepath.FromSlash(h.Settings.User)))
	}
	scratch := h.Scratch
	if scratch != "" { // one folder for each user in the place that all users share
		scratch += strconv.Itoa(os.Getuid())
	}
	return h.FoldersIn(realFolder(settings, project), realFolder(scratch, project))
}

// realFolder is where a folder lies, "" when it is not one of this user's own.
func realFolder(path, project string) string {
	if !filepath.IsAbs(path) {
		return ""
	}
	at, err := files.Canonical(path)
	if err != nil {
		return ""
	}
	info, err := os.Lstat(at)
	const othersWrite = 0o022
	if err != nil || !info.IsDir() || info.Mode()&othersWrite != 0 || !ownedByUser(info) {
		return ""
	}
	if top := cloneOf(project); top == "" || files.Within(top, at) || files.Within(at, top) {
		return ""
	}
	return at
}

// cloneOf is the top of the clone that a folder lies in, or the folder itself; "" when
// it cannot be told.
func cloneOf(project string) string {
	if top := gitdir.FindWorktree(project); top != "" {
		return top
	}
	at, err := files.Canonical(project)
	if err != nil {
		return ""
	}
	return at
}
