package rulefile

import (
	"sync"

	"github.com/umpirehq/umpire"
)

// SeenChanges are the changes of rule files that were announced. Several projects may hold the same
// files, under one folder or another: each change is told once for a project, and with its
// author also where another project finds it. Its lock is held while rules change and while
// a change is told; the zero value has told nothing.
type SeenChanges struct {
	sync.Mutex

	files   map[seenFile]string // how the file stood when it was told last
	authors map[string]author   // path -> who changed it last, as far as it was told
}

// A seenFile is a file as one project was told of it.
type seenFile struct {
	project umpire.ProjectID
	path    string
}

// An author is who left a file as it stood.
type author struct {
	state string
	by    umpire.Actor
}

// News leaves out the files that were told of for a project as they stand. The files are
// those of [Set.ChangedTo].
func (t *SeenChanges) News(project umpire.ProjectID, changed map[string]string) map[string]string {
	left := map[string]string{}
	for path, state := range changed {
		if seen, ok := t.files[seenFile{project, path}]; !ok || seen != state {
			left[path] = state
		}
	}
	return left
}

// AuthorOf is who left all the files as they stand, the zero actor where that is not known.
func (t *SeenChanges) AuthorOf(changed map[string]string) umpire.Actor {
	var by umpire.Actor
	for path, state := range changed {
		a := t.authors[path]
		if a.state != state || by != (umpire.Actor{}) && by != a.by {
			return umpire.Actor{}
		}
		by = a.by
	}
	return by
}

// Note keeps what was told for a project.
func (t *SeenChanges) Note(project umpire.ProjectID, changed map[string]string, by umpire.Actor) {
	if t.files == nil {
		t.files, t.authors = map[seenFile]string{}, map[string]author{}
	}
	for path, state := range changed {
		t.files[seenFile{project, path}] = state
		t.authors[path] = author{state, by}
	}
}
