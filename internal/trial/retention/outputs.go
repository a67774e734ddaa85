package retention

import (
	"path"
	"path/filepath"
	"time"

	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/gitdir"
	"github.com/umpirehq/umpire/internal/sensitive"
)

// A Project weighs the records of one project, and reads its git index at most once.
type Project struct {
	root           string
	ignoresChanged time.Time // when .gitignore last changed; zero if it can't count
	read           bool
	tracked        map[string]bool // nil if the root is not a repository that can be read
}

// NewProject returns the project whose root is a folder.
func NewProject(root string) *Project { return &Project{root: root} }

// An Old is content that a call replaced, or deleted.
type Old struct {
	Path    string
	Bytes   int64
	Deleted bool
}

// Weigh sets what old content says of a record: its bytes, and how long it stays.
//
// An output is a file that a tool makes again: it lies in a folder that such tools fill, the .gitignore at the
// project's root names the folder, and git does not track the file. A .gitignore that was changed after the record was
// made ignores nothing in it: an agent may have changed it.
func (p *Project) Weigh(r *Record, all []Old) {
	r.Holds, r.Outputs = len(all) > 0, len(all) > 0
	for _, o := range all {
		r.Bytes += o.Bytes
		below, err := filepath.Rel(p.root, o.Path)
		tracked := err == nil && p.tracks(filepath.ToSlash(below))
		output := err == nil && !tracked && p.tracked != nil && p.ignoresChanged.Before(r.Time) &&
			filepath.IsLocal(below) && inOutput(p.root, filepath.ToSlash(below))
		r.Outputs = r.Outputs && output
		r.Alone = r.Alone || !output && (o.Deleted || !tracked)
	}
}

// tracks reports whether git tracks a file. The first call reads the index.
func (p *Project) tracks(file string) bool {
	if !p.read {
		p.read = true
		_, changed, err := files.Stamp(filepath.Join(p.root, ".gitignore"))
		if p.tracked, _ = gitdir.ReadNames(p.root); err != nil || changed.IsZero() {
			changed = time.Now().Add(time.Hour) // nothing is ignored
		}
		p.ignoresChanged = changed
	}
	return p.tracked[file]
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
