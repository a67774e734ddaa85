package place

import (
	"path/filepath"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// Resolve sets Resolved and Place of an access to a path, and ignores any other access. Target
// may contain "..", a trailing slash and, if Glob is set, wildcards. A relative target starts
// from the working directory. An empty target of a read is the working directory. A path that
// cannot be resolved lies outside and is in doubt.
func (b *Bounds) Resolve(a *umpire.Access) {
	if !a.Paths() {
		return
	}
	if a.Target == "" && a.Kind != umpire.KindRead {
		a.Place = umpire.PlaceOutside
		addDoubt(a, "no path is given")
		return
	}
	written := b.absolute(a.Target)
	if a.Glob {
		b.resolveGlob(a, written)
		return
	}
	kind := a.Kind
	if a.Observed {
		kind = umpire.KindDelete // the last link is not followed, as for a delete
	}
	var err error
	if a.Resolved, a.Place, err = b.locate(written, kind); err != nil {
		addDoubt(a, umpire.Say("path %q cannot be resolved: %s", files.Clip(a.Target), err))
	}
	if a.Follows && a.Tree && !a.Names && a.Place == umpire.PlaceInside {
		if problem := b.linkBelow(a.Resolved); problem != "" {
			addDoubt(a, problem)
		}
	}
}

// Contains reports whether a path lies inside the project, both as written and after following
// its links.
func (b *Bounds) Contains(path string) bool {
	_, place, err := b.locate(b.absolute(path), umpire.KindRead)
	return err == nil && place == umpire.PlaceInside
}

// absolute makes a path absolute without cleaning it.
func (b *Bounds) absolute(path string) string {
	if path == "" {
		return b.Dir
	}
	return files.AbsoluteFrom(b.Dir, path)
}

// locate returns the target of an absolute path, and the worse of the places of the written and
// the resolved form. It does not follow the last link of a deleted path, because deleting a
// link leaves its target alone.
func (b *Bounds) locate(written string, kind umpire.AccessKind) (string, umpire.Place, error) {
	if isHarmless(written, kind) {
		return written, umpire.PlaceHarmless, nil
	}
	clean := filepath.Clean(written)
	d, err := files.Follow(written, kind != umpire.KindDelete)
	if err != nil {
		return clean, umpire.PlaceOutside, err
	}
	if d.Process {
		return d.Path, umpire.PlaceOutside, nil
	}
	place := min(b.placeOf(clean, b.spelled, kind), b.placeOf(d.Path, b.inside, kind))
	return d.Path, place, nil
}

func (b *Bounds) placeOf(clean string, bounds []string, kind umpire.AccessKind) umpire.Place {
	switch {
	case isHarmless(clean, kind):
		return umpire.PlaceHarmless
	case isInside(clean, bounds, b.holes, b.FoldCase):
		return umpire.PlaceInside
	}
	return umpire.PlaceOutside
}

// devices are the paths that hold no data, with the harmless accesses to them. The terminal is
// not included: writes to it reach a person past the agent, with escape sequences that it
// obeys, and reads from it get the person's input, perhaps meant for another program.
var devices = map[string]struct{ read, write bool }{
	"/dev/null":    {read: true, write: true},
	"/dev/zero":    {read: true},
	"/dev/random":  {read: true},
	"/dev/urandom": {read: true},
	"/dev/stdin":   {read: true, write: true},
	"/dev/stdout":  {read: true, write: true},
	"/dev/stderr":  {read: true, write: true},
}

// isHarmless reports whether a path, exactly as written, is a device or a standard stream that
// the access cannot harm.
func isHarmless(path string, kind umpire.AccessKind) bool {
	if !strings.HasPrefix(path, "/dev/") {
		return false
	}
	device, ok := devices[path]
	if number, isFD := strings.CutPrefix(path, "/dev/fd/"); isFD {
		ok = number != "" && strings.Trim(number, "0123456789") == ""
		device.read, device.write = true, true
	}
	return ok && (kind == umpire.KindRead && device.read || kind == umpire.KindWrite && device.write)
}

// addDoubt records a doubt, unless the access has one already.
func addDoubt(a *umpire.Access, what umpire.Phrase) {
	if a.Doubt == "" {
		a.Doubt = what
	}
}
