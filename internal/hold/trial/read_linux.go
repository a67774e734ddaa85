package trial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// A reader compares layers with the folders below them.
type reader struct {
	ctx     context.Context //nolint:containedctx // it lives for one call of Read
	limits  limits
	effects Effects

	seen  int   // entries
	read  int64 // bytes
	names map[fileID][]string
	under map[string]*dir // lower roots by path

	began time.Time // when the trial began; zero if unknown
	// shown are the folders whose time the trial changed, if the layer was read before.
	// If nil, the reader determines them.
	shown map[string]bool

	checkOwners bool
}

// A fileID identifies a file in a layer.
type fileID struct{ device, inode uint64 }

// A place is one folder of the tree that the command saw.
type place struct {
	path  string
	upper *dir // the folder in the layer
	lower *dir // the folder below, or nil if it does not exist
	// opaque means that lower is hidden completely.
	opaque bool
	depth  int
}

// errLimit stops the reading at a limit.
var errLimit = errors.New("the limit was reached")

// read returns the effects of a layer whose command has ended. It compares the layer with
// the current state of the folders below. It fails if the layer is invalid or a covered
// folder was replaced; unreadable entries inside are listed in Differs.
func read(ctx context.Context, layer Layer, limits limits) (Effects, error) {
	return readEffects(ctx, &layer, limits, nil)
}

// readAgain returns the current effects of a layer that was read before.
func readAgain(ctx context.Context, layer *Layer, before *Effects) (Effects, error) {
	shown := map[string]bool{}
	for i := range before.Folders {
		shown[before.Folders[i].Path] = true
	}
	return readEffects(ctx, layer, limits{}, shown)
}

func readEffects(ctx context.Context, layer *Layer, limits limits, shown map[string]bool) (Effects, error) {
	limits.Entries = cmp.Or(limits.Entries, maxEntries)
	limits.Bytes = cmp.Or(limits.Bytes, maxBytes)
	limits.Depth = cmp.Or(limits.Depth, maxDepth)
	r := &reader{
		ctx: ctx, limits: limits, names: map[fileID][]string{}, under: map[string]*dir{}, shown: shown,
		checkOwners: os.Geteuid() != 0, // root's namespace maps all owners
	}
	if stamp, err := os.Lstat(filepath.Join(layer.Dir, stampFile)); err == nil {
		r.began = files.ChangeTime(stamp)
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
	e := &r.effects
	slices.SortFunc(e.List, func(a, b Effect) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(e.Folders, func(a, b Folder) int { return cmp.Compare(a.Path, b.Path) })
	if err := r.findMoves(); err != nil && !errors.Is(err, errLimit) {
		return Effects{}, err
	}
	r.findLinks()
	e.Digest = digestOf(e.List, e.Folders)
	return *e, ctx.Err()
}

// root reads the effects in one root.
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
		return umpire.Errorf("%s is not the folder that the trial covered", root.Lower)
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

// folder reads the effects in one folder.
func (r *reader) folder(p *place) error {
	if p.depth > r.limits.Depth {
		return r.stop("more than %d folders in each other", r.limits.Depth)
	}
	names, err := r.entriesOf(p.upper)
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
	below, err := r.entriesOf(p.lower)
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

// entry compares one entry of the layer with the entry below it.
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

// enter compares a folder with the folder below it, and then its entries.
func (r *reader) enter(p *place, name string, was, is *unix.Stat_t, opaque bool) error {
	path := filepath.Join(p.path, name)
	// Folders inside an opaque folder are not marked again.
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

// deleted lists a deleted entry. A whiteout over nothing deletes nothing.
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

// gone lists a deleted lower entry with everything in it.
func (r *reader) gone(lower *dir, name, path string, was *unix.Stat_t, depth int) error {
	if err := r.count(); err != nil {
		return err
	}
	e := Effect{Path: path, Kind: Deleted, Before: entryOf(was)}
	if e.Before.Type&fs.ModeSymlink != 0 {
		var err error
		if e.Before.Link, err = readLinkAt(lower.fd(), name); err != nil {
			return r.unreadable(path, err)
		}
	}
	r.addEffect(e)
	if kindOf(was) != unix.S_IFDIR {
		return nil
	}
	return r.deletedBelow(lower, name, path, was, depth)
}

// deletedBelow lists the entries of a deleted folder.
func (r *reader) deletedBelow(lower *dir, name, path string, was *unix.Stat_t, depth int) error {
	if depth >= r.limits.Depth {
		return r.stop("more than %d folders in each other", r.limits.Depth)
	}
	inner, err := lower.child(name, was)
	if err != nil {
		return r.unreadable(path, err)
	}
	defer inner.close()
	names, err := r.entriesOf(inner)
	if err != nil {
		return r.unreadable(path, err)
	}
	for _, name := range names {
		below := filepath.Join(path, name)
		info, err := inner.stat(name)
		if err == nil && info.Ino == 0 {
			continue // another program deleted it
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

// entriesOf returns the sorted entries of a folder. It stops early if a folder has more
// entries than the limit.
func (r *reader) entriesOf(d *dir) ([]string, error) {
	names, err := d.f.Readdirnames(r.limits.Entries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(names) > r.limits.Entries {
		return nil, r.stop("more than %d files", r.limits.Entries)
	}
	slices.Sort(names)
	return names, nil
}

func (r *reader) addEffect(e Effect) { r.effects.List = append(r.effects.List, e) }

func (r *reader) differ(path string, reason DifferenceReason) {
	d := Difference{path, reason}
	if !slices.Contains(r.effects.Differs, d) && len(r.effects.Differs) < maxDiffers {
		r.effects.Differs = append(r.effects.Differs, d)
	}
}

// unreadable notes an unreadable path and lets the reading continue.
func (r *reader) unreadable(path string, err error) error {
	if errors.Is(err, errLimit) || r.ctx.Err() != nil {
		return err
	}
	r.differ(path, DiffersUnreadable)
	return nil
}

// count counts an entry against the limit.
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
