package rulefile

import (
	"sync"

	"github.com/umpirehq/umpire"
)

// SeenChanges are the announced changes of rule files. Several projects may use the same
// files: each change is announced once per project, and keeps its author even if another
// project finds it. Hold the lock while changing rules and while announcing a change. The
// zero value is ready for use.
type SeenChanges struct {
	sync.Mutex

	files   map[seenFile]string // the last announced state of each file
	authors map[string]author   // path -> last author of an announced change
}

// A seenFile is a file as seen from one project.
type seenFile struct {
	project umpire.ProjectID
	path    string
}

// An author is the actor that left a file in a state.
type author struct {
	state string
	by    umpire.Actor
}

// News returns the changed files without those already announced to the project in that
// state. The files are those of [Set.ChangedTo].
func (t *SeenChanges) News(project umpire.ProjectID, changed map[string]string) map[string]string {
	left := map[string]string{}
	for path, state := range changed {
		if seen, ok := t.files[seenFile{project, path}]; !ok || seen != state {
			left[path] = state
		}
	}
	return left
}

// AuthorOf returns the actor that left all the files in their state, or the zero actor if
// unknown.
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

// Note records that changes were announced to a project.
func (t *SeenChanges) Note(project umpire.ProjectID, changed map[string]string, by umpire.Actor) {
	if t.files == nil {
		t.files, t.authors = map[seenFile]string{}, map[string]author{}
	}
	for path, state := range changed {
		t.files[seenFile{project, path}] = state
		t.authors[path] = author{state, by}
	}
}
