package trial

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/files/gitdir"
)

// Limits on reading logs and refs.
const (
	maxLog    = 64 << 20
	maxPacked = 128 << 20
	maxRefs   = 200_000
)

// An entry is one line of a reflog.
type entry struct{ before, after string }

// entries reads a reflog.
func (r *repository) entries(v gitdir.View, path string) (found []entry) {
	if !v.Has(path) {
		return nil
	}
	data, err := files.ReadSmall(v.File(path), maxLog)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(data)) {
		if e, ok := parseEntry(line); ok {
			found = append(found, e)
		}
	}
	return found
}

func parseEntry(line string) (entry, bool) {
	before, rest, _ := strings.Cut(line, " ")
	after, _, more := strings.Cut(rest, " ")
	_, one := gitdir.CheckObjectID(before)
	_, other := gitdir.CheckObjectID(after)
	return entry{before, after}, more && one == nil && other == nil
}

// wellFormed reports whether a log contains only valid entries.
func wellFormed(log []byte) bool {
	for line := range strings.Lines(string(log)) {
		if _, ok := parseEntry(line); !ok || !strings.HasSuffix(line, "\n") {
			return false
		}
	}
	return true
}

// roots returns the commits that refs, HEAD and logs name, in the git directory and those of
// its linked worktrees.
func (r *repository) roots(v gitdir.View) map[string]bool {
	found := map[string]bool{}
	add := func(id string) {
		if _, err := gitdir.CheckObjectID(id); err == nil && strings.Trim(id, "0") != "" {
			found[id] = true
		}
	}
	dirs := append(r.listPaths(v, filepath.Join(r.dir, "worktrees"), false), r.dir)
	for _, dir := range dirs {
		for _, ref := range append(r.listPaths(v, filepath.Join(dir, "refs"), true), filepath.Join(dir, "HEAD")) {
			if data, err := files.ReadSmall(v.File(ref), gitdir.MaxFile); err == nil {
				add(strings.TrimSpace(string(data)))
			}
		}
		for _, log := range r.listPaths(v, filepath.Join(dir, "logs"), true) {
			for _, e := range r.entries(v, log) {
				add(e.before)
				add(e.after)
			}
		}
	}
	for _, id := range r.packedRefs(v) {
		add(id)
	}
	return found
}

// refs returns all refs with their values, loose or packed.
func (r *repository) refs(v gitdir.View) map[string]string {
	found := r.packedRefs(v)
	for _, ref := range r.listPaths(v, filepath.Join(r.dir, "refs"), true) {
		data, err := files.ReadSmall(v.File(ref), gitdir.MaxFile)
		if err != nil {
			data = []byte("unreadable")
		}
		found[strings.TrimPrefix(ref, r.dir+"/")] = strings.TrimSuffix(string(data), "\n")
	}
	return found
}

// packedRefs reads the packed refs. The name of a tag followed by ^ maps to the tagged object.
// A malformed line is its own key.
func (r *repository) packedRefs(v gitdir.View) map[string]string {
	found := map[string]string{}
	path := filepath.Join(r.dir, "packed-refs")
	if !v.Has(path) {
		return found
	}
	data, err := files.ReadSmall(v.File(path), maxPacked)
	if err != nil {
		found["packed-refs"] = "unreadable"
	}
	last := ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		id, name, ok := strings.Cut(line, " ")
		switch {
		case strings.HasPrefix(line, "# pack-refs"):
		case strings.HasPrefix(line, "^") && strings.HasPrefix(last, "refs/tags/"):
			found[last+"^"] = line[1:]
		case !ok || !strings.HasPrefix(name, "refs/"):
			found[line] = line
		default:
			found[name], last = id, name
		}
	}
	return found
}

// listPaths lists the entries of a folder after the changes, or all files below it if deep is true.
func (r *repository) listPaths(v gitdir.View, dir string, deep bool) (paths []string) {
	seen := map[string]bool{}
	visit := func(path string) {
		if len(seen) < maxRefs && !seen[path] && v.Has(path) {
			seen[path] = true
			paths = append(paths, path)
		}
	}
	if deep {
		_ = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				visit(path)
			}
			return nil
		})
	} else {
		entries, _ := os.ReadDir(dir) // a missing folder has no entries
		for _, e := range entries {
			visit(filepath.Join(dir, e.Name()))
		}
	}
	for path, c := range v {
		below, is := strings.CutPrefix(path, dir+"/")
		if is && !c.Gone && (deep && !c.After.IsDir() || !deep && !strings.Contains(below, "/")) {
			visit(path)
		}
	}
	return paths
}
