package place

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/rulefile/wildcard"
)

// maxLinks is the maximum number of links out of the project that one search may follow.
const maxLinks = 200

// A search looks through all files that a recursive search would read.
type search struct {
	bounds   *Bounds
	secret   func(file string) bool
	patterns []string // of the files to read; empty means all files below a folder
	handed   []string // patterns of the names of the files to read, or empty for all
	deep     bool     // also read everything below a match
	follows  bool

	seen    int
	folders []string // to look through
	found   string
	links   []string
}

var errManyLinks = errors.New("too many links")

// Search looks through the files that a recursive search of a folder would read, or that a
// pattern matches. It returns the first file that is a secret, or "", and the targets outside
// of the project of links that the search would follow. A folder too large to look through is
// an error. The access must have been resolved by [Bounds.Resolve].
func (b *Bounds) Search(a *umpire.Access, secret func(file string) bool) (found string, links []string, err error) {
	if a.Place == umpire.PlaceInside && a.Glob && !a.Tree {
		found, err = b.matchedSecret(a, secret)
		return found, nil, err
	}
	s := search{bounds: b, secret: secret, handed: a.Handed, deep: a.Tree, follows: a.Follows || a.Glob}
	root := a.Resolved
	if a.Glob {
		var rest []string
		root, rest = b.splitPattern(a.Resolved)
		s.patterns = searchPatterns(filepath.Clean(root), rest)
	}
	s.folders = []string{filepath.Clean(root)}
	for at := 0; at < len(s.folders) && s.found == "" && err == nil; at++ {
		err = filepath.WalkDir(s.folders[at], s.visit)
	}
	return s.found, s.links, err
}

// searchPatterns returns the patterns of a search below a folder, or nil if one may match anything.
func searchPatterns(folder string, rest []string) []string {
	written, named := wildcard.Escape(folder), wildcard.Escape(folder)
	for _, part := range rest {
		written += "/" + part
		named += "/" + cmp.Or(wildcard.Literal(part), part)
	}
	if strings.ContainsAny(strings.Join(rest, "/"), `(\`) || !doublestar.ValidatePattern(written) {
		return nil
	}
	return []string{written, named}
}

func (s *search) visit(path string, entry fs.DirEntry, err error) error {
	if err != nil {
		return nil //nolint:nilerr // an unreadable folder is not searched either
	}
	if s.seen++; s.seen > maxBelow {
		return umpire.Errorf("%q: %w", files.Clip(s.folders[0]), errManyBelow)
	}
	switch {
	case !s.reads(path):
		return nil
	case s.secret(path):
		s.found = path
		return fs.SkipAll
	case s.follows && entry.Type()&fs.ModeSymlink != 0:
		return s.follow(path)
	}
	return nil
}

// matchedSecret returns the first file that a pattern within the project matches and that is a
// secret, by its written path or by its target.
func (b *Bounds) matchedSecret(a *umpire.Access, secret func(file string) bool) (string, error) {
	prefix, rest := b.splitPattern(b.absolute(a.Target))
	e := expansion{bounds: b, kind: a.Kind, place: a.Place, secret: secret}
	err := e.walk(prefix, rest, false)
	return e.found, err
}

// reads reports whether the search reads a file, or anything below a folder.
func (s *search) reads(path string) bool {
	if len(s.handed) > 0 {
		return slices.ContainsFunc(s.handed, func(pattern string) bool {
			fits, err := filepath.Match(strings.ToLower(pattern), strings.ToLower(filepath.Base(path)))
			return fits || err != nil
		})
	}
	return len(s.patterns) == 0 || slices.ContainsFunc(s.patterns, func(pattern string) bool {
		return doublestar.MatchUnvalidated(pattern, path) ||
			s.deep && doublestar.MatchUnvalidated(strings.TrimSuffix(pattern, "/")+"/**", path)
	})
}

// follow records the target of a link and looks through it as well.
func (s *search) follow(link string) error {
	target, place, err := s.bounds.locate(link, umpire.KindRead)
	if err != nil {
		return err
	}
	if place != umpire.PlaceOutside {
		return nil
	}
	if s.secret(target) {
		s.found = target
		return fs.SkipAll
	}
	s.links = append(s.links, target)
	if len(s.links) > maxLinks {
		return errManyLinks
	}
	if !files.WithinAny(s.folders, target) &&
		len(s.patterns) == 0 {
		s.folders = append(s.folders, target)
	}
	return nil
}
