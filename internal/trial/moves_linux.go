package trial

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// findMoves takes a file that was created and one that was deleted, with the same content,
// for one that was moved. Empty files have too little in common.
func (r *reader) findMoves() error {
	created := map[int64][]int{}
	for i := range r.effects.List {
		if e := &r.effects.List[i]; e.Kind == Created && e.After.Type.IsRegular() && e.After.Size > 0 {
			created[e.After.Size] = append(created[e.After.Size], i)
		}
	}
	if len(created) == 0 {
		return nil
	}
	byDigest := map[string][]int{} // deleted files
	for i := range r.effects.List {
		e := &r.effects.List[i]
		if e.Kind != Deleted || !e.Before.Type.IsRegular() || created[e.Before.Size] == nil {
			continue
		}
		if err := r.digestBefore(e); err != nil {
			return err
		}
		if e.Before.Digest != "" {
			byDigest[e.Before.Digest] = append(byDigest[e.Before.Digest], i)
		}
	}
	moved := map[int]bool{} // deletions that are told by another effect
	for _, sameName := range []bool{true, false} {
		for i := range r.effects.List {
			e := &r.effects.List[i]
			if e.Kind != Created || e.After.Digest == "" {
				continue
			}
			from := byDigest[e.After.Digest]
			at := slices.IndexFunc(from, func(j int) bool {
				return !sameName || filepath.Base(r.effects.List[j].Path) == filepath.Base(e.Path)
			})
			if at < 0 {
				continue
			}
			gone := &r.effects.List[from[at]]
			e.Kind, e.From, e.Before = Moved, gone.Path, gone.Before
			moved[from[at]] = true
			byDigest[e.After.Digest] = slices.Delete(from, at, at+1)
			if e.Before.Links > 1 {
				r.differ(e.Path, DiffersHardLink)
			}
		}
	}
	kept := r.effects.List[:0]
	for i := range r.effects.List {
		if !moved[i] {
			kept = append(kept, r.effects.List[i])
		}
	}
	r.effects.List = kept
	return nil
}

// digestBefore adds the digest of a file underneath.
func (r *reader) digestBefore(e *Effect) error {
	for root, d := range r.under {
		name, inside := strings.CutPrefix(e.Path, strings.TrimSuffix(root, "/")+"/")
		if !inside {
			continue
		}
		parent, err := d.descend(filepath.Dir(name))
		if err != nil {
			return r.unreadable(e.Path, err)
		}
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

// descend opens a folder below, following no link.
func (d *dir) descend(name string) (*dir, error) {
	fd, err := unix.Openat2(d.fd(), name, &unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_BENEATH,
	})
	if err != nil {
		return nil, err
	}
	return &dir{os.NewFile(uintptr(fd), name)}, nil
}

// findLinks says of each file with several names in the layer which other one it has. A name
// that is as it was comes first: what is made is a link to what is there.
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
