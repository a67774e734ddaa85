package trial

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire/internal/files"
)

// findMoves pairs a created file with a deleted one of the same content as a move. Empty
// files are too ambiguous. The list is sorted, so files of the same content and name in
// several folders are paired in order.
func (r *reader) findMoves() error {
	list := r.effects.List
	created := map[int64]bool{} // by size
	for i := range list {
		if e := &list[i]; e.Kind == Created && e.After.Type.IsRegular() && e.After.Size > 0 {
			created[e.After.Size] = true
		}
	}
	for i := range list {
		e := &list[i]
		if e.Kind == Deleted && e.Before.Type.IsRegular() && created[e.Before.Size] {
			if err := r.digestBefore(e); err != nil {
				return err
			}
		}
	}
	moved := map[int]bool{} // deletions that are part of a move
	r.matchMoves(moved, func(path, digest string) string { return digest + filepath.Base(path) })
	r.matchMoves(moved, func(_, digest string) string { return digest })
	r.effects.List = list[:0]
	for i := range list {
		if !moved[i] {
			r.effects.List = append(r.effects.List, list[i])
		}
	}
	return nil
}

// matchMoves pairs files with equal keys in list order.
func (r *reader) matchMoves(moved map[int]bool, alike func(path, digest string) string) {
	list := r.effects.List
	from := map[string][]int{}
	for i := range list {
		if e := &list[i]; e.Kind == Deleted && e.Before.Digest != "" && !moved[i] {
			key := alike(e.Path, e.Before.Digest)
			from[key] = append(from[key], i)
		}
	}
	for i := range list {
		e := &list[i]
		if e.Kind != Created || e.After.Size == 0 || e.After.Digest == "" {
			continue
		}
		key := alike(e.Path, e.After.Digest)
		if len(from[key]) == 0 {
			continue
		}
		gone := from[key][0]
		from[key] = from[key][1:]
		e.Kind, e.From, e.Before = Moved, list[gone].Path, list[gone].Before
		moved[gone] = true
		if e.Before.Links > 1 {
			r.differ(e.Path, DiffersHardLink)
		}
	}
}

// digestBefore adds the digest of a file in the lower folder.
func (r *reader) digestBefore(e *Effect) error {
	for root, d := range r.under {
		name, inside := strings.CutPrefix(e.Path, strings.TrimSuffix(root, "/")+"/")
		if !inside {
			continue
		}
		fd, err := files.OpenBeneath(d.fd(), filepath.Dir(name), unix.O_RDONLY|unix.O_DIRECTORY)
		if err != nil {
			return r.unreadable(e.Path, err)
		}
		parent := &dir{os.NewFile(uintptr(fd), name)}
		defer parent.close()
		info, err := parent.stat(filepath.Base(name))
		if err != nil || info.Ino != e.Before.Inode {
			return r.unreadable(e.Path, err)
		}
		if err := r.fill(&e.Before, parent, filepath.Base(name), &info); err != nil {
			return r.unreadable(e.Path, err)
		}
		return nil
	}
	return r.unreadable(e.Path, fs.ErrNotExist)
}

// findLinks sets SameAs for each file with several names in the layer. An unchanged name
// comes first, because a new link points to an existing file.
func (r *reader) findLinks() {
	listed := map[string]*Entry{}
	for i := range r.effects.List {
		listed[r.effects.List[i].Path] = &r.effects.List[i].After
	}
	for _, names := range r.names {
		slices.Sort(names)
		first := names[0]
		if i := slices.IndexFunc(names, func(name string) bool { return listed[name] == nil }); i >= 0 {
			first = names[i]
		}
		for _, name := range names {
			if e := listed[name]; e != nil && name != first {
				e.SameAs = first
			}
		}
	}
}
