package retention

import (
	"path"
	"path/filepath"
	"time"

	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/gitdir"
	"github.com/umpirehq/umpire/internal/sensitive"
)

// Outputs returns a function that reports whether a file of a project is an output that a tool makes again: it lies
// in a folder that such tools fill, the .gitignore at the project's root names the folder, and git does not track the
// file. A .gitignore that was changed after a record was made ignores nothing in it: an agent may have changed it.
func Outputs(root string, made time.Time) func(file string) bool {
	var tracked map[string]bool
	_, changed, err := files.Stamp(filepath.Join(root, ".gitignore"))
	ignores := err == nil && !changed.IsZero() && changed.Before(made)
	return func(file string) bool {
		below, err := filepath.Rel(root, file)
		if err != nil || !ignores || !filepath.IsLocal(below) || !inOutput(root, filepath.ToSlash(below)) {
			return false
		}
		if tracked == nil {
			if tracked, err = gitdir.ReadNames(root); err != nil {
				tracked, ignores = nil, false
				return false
			}
		}
		return !tracked[filepath.ToSlash(below)]
	}
}

// inOutput reports whether a folder above a file is one of outputs, and ignored.
func inOutput(root, file string) bool {
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if sensitive.IsOutputFolder(path.Base(dir)) && gitdir.Ignores(root, dir) {
			return true
		}
	}
	return false
}
