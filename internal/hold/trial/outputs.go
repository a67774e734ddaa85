package trial

import (
	"path"
	"path/filepath"
	"time"

	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/files/gitdir"
	"github.com/umpirehq/umpire/internal/secret/sensitive"
)

// An undoProject weighs the records of one project. It reads its git index at most once.
type undoProject struct {
	root    string
	settled time.Time // from when .gitignore counts; far in the future if it does not
	read    bool
	tracked map[string]bool // nil if the root is not a readable repository
}

// newUndoProject returns the project with the given root folder.
func newUndoProject(root string) *undoProject { return &undoProject{root: root} }

// An oldContent is content that a call replaced or deleted.
type oldContent struct {
	Path    string
	Bytes   int64
	Deleted bool
}

// weigh sets the fields of a record that depend on its old content: its size and how long it stays.
//
// An output is a file that a tool can make again: it is in a folder that such tools fill, the .gitignore at
// the project's root names the folder, and git does not track the file. If .gitignore was changed after the
// record was made, or less than a day before, an agent may have done it, so nothing in the record counts as
// ignored. A .gitignore that came with the clone counts at once.
func (p *undoProject) weigh(r *undoRecord, all []oldContent) {
	r.Holds, r.Outputs = len(all) > 0, len(all) > 0
	for _, o := range all {
		r.Bytes += o.Bytes
		below, err := filepath.Rel(p.root, o.Path)
		tracked := err == nil && p.tracks(filepath.ToSlash(below))
		output := err == nil && !tracked && p.tracked != nil && p.settled.Before(r.Time) &&
			filepath.IsLocal(below) && inOutput(p.root, filepath.ToSlash(below))
		r.Outputs = r.Outputs && output
		r.Alone = r.Alone || !output && (o.Deleted || !tracked)
	}
}

// tracks reports whether git tracks a file. The first call reads the index.
func (p *undoProject) tracks(file string) bool {
	if !p.read {
		p.read = true
		p.tracked, _ = gitdir.ReadNames(p.root)
		p.settled = p.settleIgnores()
	}
	return p.tracked[file]
}

// settling is how long before a record .gitignore must have been changed to count for it, and
// checkout how long git takes to write it after it has noted the clone.
const (
	settling = 24 * time.Hour
	checkout = time.Minute
)

func (p *undoProject) settleIgnores() time.Time {
	_, changed, err := files.Stamp(filepath.Join(p.root, ".gitignore"))
	switch cloned := gitdir.ClonedAt(p.root); {
	case err != nil || changed.IsZero():
		return time.Now().Add(100 * 365 * settling)
	case changed.Before(cloned.Add(checkout)):
		return changed
	}
	return changed.Add(settling)
}

// inOutput reports whether a parent folder of a file is an ignored output folder.
func inOutput(root, file string) bool {
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if sensitive.IsOutputFolder(path.Base(dir)) && gitdir.Ignores(root, dir) {
			return true
		}
	}
	return false
}
