package host

import (
	"os"
	"path/filepath"
	"strconv"

	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/files/gitdir"
)

// findFolders finds the host's own folders on this machine: those below its settings, which are the
// registered ones or else the usual ones in the user's home directory. A folder counts by its
// resolved path, if only this user can write there, and never inside a project, because a clone
// could bring one.
func (h *Host) findFolders(home, registered, project string) []Folder {
	settings := registered
	if settings == "" && home != "" {
		settings = filepath.Join(home, filepath.Dir(filepath.FromSlash(h.Settings.User)))
	}
	scratch := h.Scratch
	if scratch != "" { // a folder for each user in a shared place
		scratch += strconv.Itoa(os.Getuid())
	}
	return h.FoldersIn(realFolder(settings, project), realFolder(scratch, project))
}

// realFolder returns the resolved path of a folder, or "" if it does not belong to this user alone.
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
	if err != nil || !info.IsDir() || info.Mode()&othersWrite != 0 || !files.Owned(info) {
		return ""
	}
	if top := cloneOf(project); top == "" || files.Within(top, at) || files.Within(at, top) {
		return ""
	}
	return at
}

// cloneOf returns the top of the clone that contains a folder, or the folder itself; "" on failure.
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
