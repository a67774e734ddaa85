package trial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
)

// A reader compares layers with what lies underneath.
type reader struct {
	ctx     context.Context //nolint:containedctx // it lives as long as one call of Read
	limits  Limits
	effects Effects

	seen  int   // entries
	read  int64 // bytes
	names map[fileID][]string
	under map[string]*dir // roots underneath, by path

	checkOwners bool
}

// A fileID tells files in layers apart.
type fileID struct{ device, inode uint64 }

// A place is one folder of the tree that the command saw.
type place struct {
	path  string
	upper *dir // as it is in the layer
	lower *dir // as it is underneath, nil for nothing
	// opaque says that nothing of lower shows.
	opaque bool
	depth  int
}

// errLimit ends the reading at a limit.
var errLimit = errors.New("the limit was reached")

// Read reads the effects of a layer whose command has ended. What lies underneath is read as
// it is now. An error says that the layer is not one, or that another folder has taken the
// place of one that was covered; what cannot be read inside is listed in Differs.
func Read(ctx context.Context, layer Layer, limits Limits) (Effects, error) {
	limits.Entries = cmp.Or(limits.Entries, maxEntries)
	limits.Bytes = cmp.Or(limits.Bytes, maxBytes)
	limits.Depth = cmp.Or(limits.Depth, maxDepth)
	r := &reader{
		ctx: ctx, limits: limits, names: map[fileID][]string{}, under: map[string]*dir{},
		checkOwners: os.Geteuid() != 0, // root's namespace has all
	}
	defer func() {
		for _, d := range r.under {
			d.close()
		}
	}()
	for _, root := range layer.Roots {
		if err := r.root(root); errors.Is(err, errLimit) {
			break
		} else if err != nil {
			return Effects{}, err
		}
	}
	if err := r.findMoves(); err != nil && !errors.Is(err, errLimit) {
		return Effects{}, err
	}
	r.findLinks()
	e := &r.effects
	slices.SortFunc(e.List, func(a, b Effect) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(e.Folders, func(a, b Folder) int { return cmp.Compare(a.Path, b.Path) })
	e.Digest = digestOf(e.List, e.Folders)
	return *e, ctx.Err()
}

// root reads one root.
func (r *reader) root(root Root) error {
	lower, err := openRoot(root.Lower)
	if err != nil {
		return err
	}
	r.under[root.Lower] = lower
	var was unix.Stat_t
	if err := unix.Fstat(lower.fd(), &was); err != nil {
		return err
	}
	if was.Dev != root.Device || was.Ino != root.Inode {
		return umpire.Errorf("%s is another folder than the one that was covered", root.Lower)
	}
	upper, err := openRoot(root.Upper)
	if err != nil {
		return err
	}
	defer upper.close()
	var is unix.Stat_t
	if err := unix.Fstat(upper.fd(), &is); err != nil {
		return err
	}
	r.compareFolder(root.Lower, &was, &is)
	return r.folder(&place{path: root.Lower, upper: upper, lower: lower})
}

// folder reads what is in one folder.
func (r *reader) folder(p *place) error {
	if p.depth > r.limits.Depth {
		return r.stop("more than %d folders in each other", r.limits.Depth)
	}
	names, err := p.upper.names()
	if err != nil {
		return r.unreadable(p.path, err)
	}
	for _, name := range names {
		if err := r.entry(p, name); err != nil {
			return err
		}
	}
	if p.lower == nil || !p.opaque && !r.checkOwners {
		return nil
	}
	below, err := p.lower.names()
	if err != nil {
		return r.unreadable(p.path, err)
	}
	for _, name := range below {
		_, shown := slices.BinarySearch(names, name)
		switch {
		case shown:
		case p.opaque:
			err = r.deleted(p, name)
		default:
			err = r.checkOwner(p, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkOwner looks at what is underneath and not in the layer. A user namespace lacks the groups
// and owners of others, so copying such a file up fails (EOVERFLOW). The folders above it are
// copied before that, which is why it is enough to look into those.
func (r *reader) checkOwner(p *place, name string) error {
	was, err := p.lower.stat(name)
	if err != nil {
		return r.unreadable(filepath.Join(p.path, name), err)
	}
	own := int(was.Uid) == os.Geteuid()
	if was.Ino == 0 || own && int(was.Gid) == os.Getegid() {
		return nil
	}
	if own || unix.Faccessat(p.lower.fd(), name, unix.W_OK, unix.AT_EACCESS|unix.AT_SYMLINK_NOFOLLOW) == nil {
		r.differ(filepath.Join(p.path, name), DiffersOwner)
	}
	return nil
}

// entry compares one entry of the layer with what lies underneath.
func (r *reader) entry(p *place, name string) error {
	if err := r.count(); err != nil {
		return err
	}
	path := filepath.Join(p.path, name)
	is, err := p.upper.stat(name)
	if err != nil {
		return r.unreadable(path, err)
	}
	if isWhiteout(&is) {
		return r.deleted(p, name)
	}
	was, err := p.lower.stat(name)
	if err != nil {
		return r.unreadable(path, err)
	}
	back, err := p.upper.lend(name, &is)
	if err != nil {
		return r.unreadable(path, err)
	}
	defer back()
	overlay, err := r.checkAttributes(p, name, path, &was)
	if err != nil {
		return r.unreadable(path, err)
	}
	if kindOf(&is) == unix.S_IFDIR {
		return r.enter(p, name, &was, &is, overlay["opaque"] == "y")
	}
	if kindOf(&was) == unix.S_IFDIR {
		if err := r.deletedBelow(p.lower, name, path, &was, p.depth); err != nil {
			return err
		}
	}
	return r.file(p, name, &was, &is)
}

// enter compares a folder with what lies underneath, and then what is in it.
func (r *reader) enter(p *place, name string, was, is *unix.Stat_t, opaque bool) error {
	path := filepath.Join(p.path, name)
	// What is in an opaque folder is not marked again.
	inner := place{path: path, opaque: opaque || p.opaque, depth: p.depth + 1}
	var err error
	if inner.upper, err = p.upper.child(name, is); err != nil {
		return r.unreadable(path, err)
	}
	defer inner.upper.close()
	if kindOf(was) != unix.S_IFDIR {
		if err := r.file(p, name, was, is); err != nil {
			return err
		}
		return r.folder(&inner)
	}
	if inner.lower, err = p.lower.child(name, was); err != nil {
		return r.unreadable(path, err)
	}
	defer inner.lower.close()
	r.compareFolder(path, was, is)
	return r.folder(&inner)
}

// compareFolder compares what a folder is, and not what is in it.
func (r *reader) compareFolder(path string, was, is *unix.Stat_t) {
	before, after := entryOf(was), entryOf(is)
	switch {
	case before.Type != after.Type || before.UID != after.UID || before.GID != after.GID:
		r.addEffect(Effect{Path: path, Kind: Attributes, Before: before, After: after})
	case !before.ModTime.Equal(after.ModTime):
		r.effects.Folders = append(r.effects.Folders, Folder{path, after.ModTime})
	}
}

// file compares what is not a folder, or has taken the place of what is none.
func (r *reader) file(p *place, name string, was, is *unix.Stat_t) error {
	path := filepath.Join(p.path, name)
	e := Effect{Path: path, Kind: Created, After: entryOf(is), Before: entryOf(was)}
	if err := r.fill(&e.After, p.upper, name, is); err != nil {
		return r.unreadable(path, err)
	}
	if e.After.Type.IsRegular() && is.Nlink > 1 {
		id := fileID{is.Dev, is.Ino}
		r.names[id] = append(r.names[id], path)
	}
	if e.Before.Exists() {
		if err := r.fill(&e.Before, p.lower, name, was); err != nil {
			return r.unreadable(path, err)
		}
		if e.Kind = compare(&e.Before, &e.After); e.Kind == "" {
			return nil
		}
	}
	if e.Before.Type.IsRegular() && e.Before.Exists() && e.Before.Links > 1 {
		r.differ(path, DiffersHardLink)
	}
	if t := e.After.Type.Type(); t&^(fs.ModeDir|fs.ModeSymlink) != 0 {
		r.differ(path, DiffersSpecial)
	}
	r.addEffect(e)
	return nil
}

// compare says in what two entries differ, "" for nothing. A name of a link has no mode and
// no time that anybody would look at.
func compare(before, after *Entry) Kind {
	switch {
	case before.Type.Type() != after.Type.Type() || before.Digest != after.Digest || before.Link != after.Link:
		return Changed
	case before.UID != after.UID || before.GID != after.GID:
		return Attributes
	case after.Type&fs.ModeSymlink == 0 && (before.Type != after.Type || !before.ModTime.Equal(after.ModTime)):
		return Attributes
	}
	return ""
}

// fill adds the digest of a file, and the target of a link.
func (r *reader) fill(e *Entry, d *dir, name string, info *unix.Stat_t) (err error) {
	switch {
	case e.Type.IsRegular():
		var read int64
		e.Digest, read, err = d.digestIn(r.ctx, name, info)
		if r.read += read; err == nil && r.read > r.limits.Bytes {
			err = r.stop("more than %d bytes to compare", r.limits.Bytes)
		}
	case e.Type&fs.ModeSymlink != 0:
		e.Link, err = d.readlink(name)
	}
	return err
}

// deleted lists an entry that is there no more. A whiteout over nothing deletes nothing.
func (r *reader) deleted(p *place, name string) error {
	path := filepath.Join(p.path, name)
	was, err := p.lower.stat(name)
	if err != nil {
		return r.unreadable(path, err)
	}
	if was.Ino == 0 {
		return nil
	}
	return r.gone(p.lower, name, path, &was, p.depth)
}

// gone lists what was underneath, with all that it held.
func (r *reader) gone(lower *dir, name, path string, was *unix.Stat_t, depth int) error {
	if err := r.count(); err != nil {
		return err
	}
	e := Effect{Path: path, Kind: Deleted, Before: entryOf(was)}
	if e.Before.Type&fs.ModeSymlink != 0 {
		var err error
		if e.Before.Link, err = lower.readlink(name); err != nil {
			return r.unreadable(path, err)
		}
	}
	r.addEffect(e)
	if kindOf(was) != unix.S_IFDIR {
		return nil
	}
	return r.deletedBelow(lower, name, path, was, depth)
}

// deletedBelow lists what a folder held that is there no more.
func (r *reader) deletedBelow(lower *dir, name, path string, was *unix.Stat_t, depth int) error {
	if depth >= r.limits.Depth {
		return r.stop("more than %d folders in each other", r.limits.Depth)
	}
	inner, err := lower.child(name, was)
	if err != nil {
		return r.unreadable(path, err)
	}
	defer inner.close()
	names, err := inner.names()
	if err != nil {
		return r.unreadable(path, err)
	}
	for _, name := range names {
		below := filepath.Join(path, name)
		info, err := inner.stat(name)
		if err == nil && info.Ino == 0 {
			continue // somebody else deleted it
		}
		if err != nil {
			err = r.unreadable(below, err)
		} else {
			err = r.gone(inner, name, below, &info, depth+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkAttributes compares the extended attributes of an entry, and returns the kernel's own.
func (r *reader) checkAttributes(p *place, name, path string, was *unix.Stat_t) (map[string]string, error) {
	overlay, now, err := p.upper.attributes(name)
	if err != nil {
		return nil, err
	}
	before := ""
	if was.Ino != 0 {
		if _, before, err = p.lower.attributes(name); err != nil {
			return nil, err
		}
	}
	if before != now {
		r.differ(path, DiffersAttributes)
	}
	for attribute := range overlay {
		if !slices.Contains(harmless, attribute) {
			r.differ(path, DiffersAttributes)
		}
	}
	return overlay, nil
}

func (r *reader) addEffect(e Effect) { r.effects.List = append(r.effects.List, e) }

func (r *reader) differ(path string, reason DifferenceReason) {
	d := Difference{path, reason}
	if !slices.Contains(r.effects.Differs, d) && len(r.effects.Differs) < maxDiffers {
		r.effects.Differs = append(r.effects.Differs, d)
	}
}

// unreadable notes what could not be read, and lets the rest be read.
func (r *reader) unreadable(path string, err error) error {
	if errors.Is(err, errLimit) || r.ctx.Err() != nil {
		return err
	}
	r.differ(path, DiffersUnreadable)
	return nil
}

// count counts an entry.
func (r *reader) count() error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	if r.seen++; r.seen > r.limits.Entries {
		return r.stop("more than %d files", r.limits.Entries)
	}
	return nil
}

// stop ends the reading at a limit.
func (r *reader) stop(format string, limit any) error {
	r.effects.Limit = fmt.Sprintf(format, limit)
	return errLimit
}
