package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// A survey is the result of searching the folders that a command may write.
type survey struct {
	guarded []string // existing guarded places outside of git directories
	gits    []string // everything named .git, and bare repositories
	links   map[fileID]*linked
}

// A fileID identifies a file, regardless of its names.
type fileID struct{ device, number uint64 }

// A linked is a file with several names.
type linked struct {
	names []string // the names found
	count uint64   // of all its names
}

// A folder is the result of reading one folder.
type folder struct {
	id      fileID
	changed int64
	read    int64
	inner   []string // folders to search
	begins  []string // names that may begin a guarded place
	git     bool     // has a .git
	bare    bool     // looks like a git directory
	links   []link
}

type link struct {
	name  string
	id    fileID
	count uint64
}

// A surveyor searches folders, and rereads one only if it has changed.
type surveyor struct{ known map[string]*folder }

// maxSurvey limits the folders of a workspace, because a larger one cannot be checked.
const maxSurvey = 200_000

// survey searches all folders except those in without, regardless of name and depth,
// because git, editors and prompts search there as well. A limit of 0 means no limit.
func (s *surveyor) survey(roots, without []string, limit int) (*survey, error) {
	found := &survey{links: map[fileID]*linked{}}
	left := map[string]bool{}
	for _, dir := range without {
		left[dir] = true
	}
	seen := make(map[string]*folder, len(s.known))
	waiting := slices.Clone(roots)
	for len(waiting) > 0 {
		dir := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		if left[dir] || seen[dir] != nil {
			continue
		}
		f := s.look(dir)
		if f == nil {
			continue // other programs cannot read it either
		}
		if seen[dir] = f; limit > 0 && len(seen) > limit {
			return nil, umpire.Errorf("%s has over %d folders, too many to find every guarded file: start in a "+
				"smaller folder", roots[0], limit)
		}
		found.add(dir, f)
		for _, name := range f.inner {
			waiting = append(waiting, filepath.Join(dir, name))
		}
	}
	s.known = seen
	slices.Sort(found.guarded)
	found.guarded = slices.Compact(found.guarded)
	slices.Sort(found.gits)
	return found, nil
}

// add notes the contents of a folder. Places that span several folders are searched every
// time, because deeper changes do not change the folder.
func (found *survey) add(dir string, f *folder) {
	for _, name := range f.begins {
		guardedPatterns().beginning(dir, name, func(path string) {
			if !isPlaceholder(path) {
				found.guarded = append(found.guarded, path)
			}
		})
	}
	if f.git {
		found.gits = append(found.gits, filepath.Join(dir, ".git"))
	}
	if f.bare {
		found.gits = append(found.gits, dir)
	}
	for _, l := range f.links {
		if found.links[l.id] == nil {
			found.links[l.id] = &linked{count: l.count}
		}
		found.links[l.id].names = append(found.links[l.id].names, filepath.Join(dir, l.name))
	}
}

// look reads a folder, or returns the remembered result. A folder that changed just
// before it was read may have changed again with the same time.
func (s *surveyor) look(dir string) *folder {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return nil
	}
	id, _ := idOf(info)
	known := s.known[dir]
	if known != nil && known.id == id && known.changed == changed(info) &&
		known.changed < known.read-int64(clockTolerance) {
		return known
	}
	f := &folder{id: id, changed: changed(info), read: time.Now().UnixNano()}
	if f.readAll(dir) != nil {
		return nil
	}
	return f
}

func changed(info fs.FileInfo) int64 { return files.ChangeTime(info).UnixNano() }

func (f *folder) readAll(dir string) error {
	at, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer at.Close()
	entries, err := at.ReadDir(-1)
	parts := 0
	for _, e := range entries {
		name := e.Name()
		switch name {
		case ".git":
			f.git = true
			continue
		case "HEAD", "objects", "refs":
			parts++
		}
		if guardedPatterns().begins(name) {
			f.begins = append(f.begins, name)
		}
		switch {
		case e.IsDir():
			f.inner = append(f.inner, name)
		case e.Type().IsRegular():
			if id, count := linksOf(at, name); count > 1 {
				f.links = append(f.links, link{name, id, count})
			}
		}
	}
	f.bare = parts == 3
	return err
}
