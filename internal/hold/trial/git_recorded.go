package trial

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/files/gitdir"
	"github.com/umpirehq/umpire/internal/secret/sensitive"
)

// maxLost is the maximum number of paths to report for one git directory: each asks separately.
const maxLost = 20

// unrecorded returns the changes in git directories that are not part of git's normal recording:
// git adds objects, moves and logs refs, and loses no commit.
func unrecorded(v gitdir.View, changes []gitdir.Change) (found []string) {
	repositories := map[string]*repository{}
	for i := range changes {
		c := &changes[i]
		dir := findRepository(c.Path)
		if dir == "" {
			continue
		}
		r := repositories[dir]
		if r == nil {
			r = &repository{View: v, dir: dir, changed: map[string]*gitdir.Change{}}
			repositories[dir] = r
		}
		r.changed[strings.TrimPrefix(c.Path, dir+"/")] = c
	}
	for _, r := range repositories {
		if _, err := os.Lstat(filepath.Join(r.dir, "HEAD")); err != nil {
			continue // a new one had nothing to lose; its settings are guarded
		}
		lost := r.unrecorded()
		slices.Sort(lost)
		found = append(found, lost[:min(len(lost), maxLost)]...)
	}
	slices.Sort(found)
	return found
}

// findRepository returns the git directory that contains a path: one named .git, that of a
// submodule within it, or one that git recognizes by its parts.
func findRepository(path string) string {
	if dir := gitdir.Directory(path); dir != "" {
		for rest := dir + "/modules"; strings.HasPrefix(path, rest+"/"); {
			name, _, _ := strings.Cut(path[len(rest)+1:], "/")
			if rest += "/" + name; rest == path {
				break
			}
			if _, err := os.Lstat(filepath.Join(rest, "HEAD")); err == nil {
				dir, rest = rest, rest+"/modules"
			}
		}
		return dir
	}
	for dir := filepath.Dir(path); dir != "/" && dir != "."; dir = filepath.Dir(dir) {
		if (gitdir.View{}).IsRepository(dir) {
			return dir
		}
	}
	return ""
}

// A repository is one git directory with its changes, keyed by their path in it.
type repository struct {
	gitdir.View

	dir     string
	changed map[string]*gitdir.Change
	objects *objectStore
}

// unrecorded judges each change, and then checks that all commits still exist.
func (r *repository) unrecorded() (found []string) {
	r.objects = newObjectStore(r)
	for name, c := range r.changed {
		if !r.recorded(name, c) {
			found = append(found, c.Path)
		}
	}
	if !r.movesRefs() {
		return found
	}
	found = append(found, r.wrongRefs()...)
	after := r.roots(r.View)
	for id := range r.roots(gitdir.View{}) {
		if !after[id] {
			return append(found, filepath.Join(r.dir, "objects", id)) // one is enough
		}
	}
	return found
}

// movesRefs reports whether a ref or a log has changed.
func (r *repository) movesRefs() bool {
	for name := range r.changed {
		if name = own(name); name == "HEAD" || name == "packed-refs" || name == "refs" || name == "logs" ||
			strings.HasPrefix(name, "refs/") || strings.HasPrefix(name, "logs/") {
			return true
		}
	}
	return false
}

// own returns a name as it is in the git directory of a linked worktree.
func own(name string) string {
	if rest, is := strings.CutPrefix(name, "worktrees/"); is {
		if _, inner, deep := strings.Cut(rest, "/"); deep {
			return inner
		}
	}
	return name
}

// messages hold text and pointers name commits. Git leaves both behind for its next command.
var (
	messages = []string{"COMMIT_EDITMSG", "MERGE_MSG", "MERGE_MODE", "SQUASH_MSG", "TAG_EDITMSG", "FETCH_HEAD",
		"gc.log"}
	pointers = []string{"ORIG_HEAD", "AUTO_MERGE", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD"}
)

// recorded reports whether git itself makes a change when it records.
func (r *repository) recorded(name string, c *gitdir.Change) bool {
	switch name = own(name); {
	case !c.Gone && c.After&fs.ModeType != 0 && !c.After.IsDir():
		return false // a link leads elsewhere, and git makes no devices
	case c.Same:
		return c.Before == c.After || strings.HasPrefix(name, "objects/")
	case name == "objects" || strings.HasPrefix(name, "objects/"):
		return r.objects.recorded(name, c)
	case !c.Gone && c.After.IsDir():
		return strings.HasPrefix(name, "refs") || strings.HasPrefix(name, "logs") || name == "info" ||
			strings.HasPrefix(name, "worktrees")
	case c.Gone && c.Before.IsDir():
		return strings.HasPrefix(name, "refs/") || strings.HasPrefix(name, "logs/")
	case slices.Contains(messages, name):
		return true
	case slices.Contains(pointers, name):
		return c.Gone || r.names(c)
	case name == "index":
		return !c.Gone && hidesNothing(c.Path, c.File)
	case name == "packed-refs" || strings.HasPrefix(name, "refs/"):
		return true // their present value is checked later
	case strings.HasPrefix(name, "logs/"):
		return c.Gone || r.appended(c)
	case name == "HEAD":
		return !c.Gone && r.logged(c)
	case name == "info/refs" || name == "info":
		return true
	}
	return sensitive.GuardsInGit(name) // the policy asks about guarded files
}

// names reports whether a file consists only of names of existing objects.
func (r *repository) names(c *gitdir.Change) bool {
	data, err := files.ReadSmall(c.File, gitdir.MaxFile)
	if err != nil || len(data) == 0 {
		return false
	}
	for line := range strings.Lines(string(data)) {
		if _, err := gitdir.CheckObjectID(strings.TrimSuffix(line, "\n")); err != nil {
			return false
		}
	}
	return true
}

// logged reports whether the log of a HEAD contains its value.
func (r *repository) logged(c *gitdir.Change) bool {
	data, err := files.ReadSmall(c.File, gitdir.MaxFile)
	log := filepath.Join(filepath.Dir(c.Path), "logs/HEAD")
	if err != nil || r.View[log] == nil {
		return false
	}
	value := strings.TrimSuffix(string(data), "\n")
	if target, symbolic := strings.CutPrefix(value, "ref: "); symbolic {
		return strings.HasPrefix(target, "refs/heads/")
	}
	return r.logEnds(log, value)
}

// logEnds reports whether a log has changed and ends with a given commit.
func (r *repository) logEnds(log, id string) bool {
	entries := r.entries(r.View, log)
	return r.View[log] != nil && len(entries) > 0 && entries[len(entries)-1].after == id
}

// wrongRefs returns refs that were moved or deleted without a log entry, and files in place of refs.
func (r *repository) wrongRefs() (found []string) {
	was, is := r.refs(gitdir.View{}), r.refs(r.View)
	for name, value := range is {
		log := filepath.Join(r.dir, "logs", name)
		target, symbolic := strings.CutPrefix(value, "ref: ")
		_, err := gitdir.CheckObjectID(value)
		switch {
		case value == was[name]:
			continue
		case strings.HasSuffix(name, ".lock"):
		case symbolic && strings.HasPrefix(name, "refs/remotes/") && strings.HasPrefix(target, "refs/remotes/"):
			continue
		case err == nil && strings.HasPrefix(name, "refs/tags/") && was[name] == "":
			continue // git keeps no log for tags
		case err == nil && strings.HasPrefix(name, "refs/notes/"):
			continue
		case err == nil && r.logEnds(log, value):
			continue
		}
		found = append(found, filepath.Join(r.dir, name))
	}
	for name, value := range was {
		log := filepath.Join(r.dir, "logs", name)
		if is[name] == "" && (r.Has(log) || !(gitdir.View{}).Has(log) || !r.isKept(is, value)) {
			found = append(found, filepath.Join(r.dir, name))
		}
	}
	return found
}

// isKept reports whether a ref or the log of one leads to a commit. The log of HEAD does not
// count: it names every commit that was checked out, and a person looks for the branch.
func (r *repository) isKept(refs map[string]string, id string) bool {
	for name, value := range refs {
		log := r.entries(r.View, filepath.Join(r.dir, "logs", name))
		if value == id || slices.ContainsFunc(log, func(e entry) bool { return e.after == id }) {
			return true
		}
	}
	return false
}

// appended reports whether a log still begins with its old content or has lost old entries. The
// check of commits covers the lost entries.
func (r *repository) appended(c *gitdir.Change) bool {
	after, err := files.ReadSmall(c.File, maxLog)
	if err != nil {
		return false
	}
	before := r.entries(gitdir.View{}, c.Path)
	now := r.entries(r.View, c.Path)
	return len(now) >= len(before) && slices.Equal(before, now[:len(before)]) && wellFormed(after)
}
