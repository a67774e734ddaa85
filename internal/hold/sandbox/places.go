package sandbox

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/umpirehq/umpire/internal/secret/sensitive"
)

// This file prepares the policy's guarded places for searching folders: the names that
// start a guarded place, and the parts that must follow.

// everything is the last part of a pattern that covers a folder with all its contents.
const everything = "**"

// A pattern is one guarded place, split into its parts.
type pattern struct {
	parts []string
	verbs []string
}

// patterns are the guarded places, grouped by location.
type patterns struct {
	named map[string][]pattern // below any folder, by their first part
	wild  []pattern            // below any folder, with a wildcard in the first part
	git   []pattern            // in a git directory
	empty []string             // names that an empty folder may occupy at a workspace's root
	home  []pattern
	whole []pattern // from the root of the file system
}

var guardedPatterns = sync.OnceValue(func() *patterns {
	all := &patterns{named: map[string][]pattern{}}
	for place := range sensitive.Places() {
		all.add(&place)
	}
	return all
})

func (all *patterns) add(place *sensitive.Place) {
	parts := strings.Split(strings.TrimPrefix(place.Path, "/"), "/")
	p := pattern{parts: parts, verbs: place.Verbs}
	switch first := parts[0]; {
	case strings.HasPrefix(place.Path, "/"):
		all.whole = append(all.whole, p)
	case first == "~":
		p.parts = parts[1:]
		all.home = append(all.home, p)
	case first == ".git":
		// git directories themselves, which are found by searching
		if len(parts) > 1 && parts[1] != "modules" && parts[1] != "worktrees" {
			p.parts = parts[1:]
			all.git = append(all.git, p)
		}
	case first == "*.git": // a bare repository is recognized by its contents
	case strings.Contains(first, "*"):
		all.wild = append(all.wild, p)
	default:
		all.named[first] = append(all.named[first], p)
		if place.Empty {
			name, _ := p.literal()
			all.empty = append(all.empty, name)
		}
	}
}

// begins reports whether a name in a folder may start a guarded place.
func (all *patterns) begins(name string) bool {
	if _, found := all.named[name]; found {
		return true
	}
	return slices.ContainsFunc(all.wild, func(p pattern) bool { return partMatches(p.parts[0], name) })
}

// beginning finds the guarded places that start with a name in a folder.
func (all *patterns) beginning(dir, name string, found func(string)) {
	for _, p := range all.named[name] {
		findMatches(filepath.Join(dir, name), p.parts[1:], found)
	}
	for _, p := range all.wild {
		if partMatches(p.parts[0], name) {
			findMatches(filepath.Join(dir, name), p.parts[1:], found)
		}
	}
}

// findMatches looks for a pattern at a path and below it. A link on the way counts as the
// place itself, because replacing it replaces everything below.
func findMatches(at string, rest []string, found func(string)) {
	info, err := os.Lstat(at)
	switch {
	case err != nil:
	case len(rest) == 0 || rest[0] == everything || info.Mode()&os.ModeSymlink != 0:
		found(at)
	case !info.IsDir():
	case !strings.Contains(rest[0], "*"):
		findMatches(filepath.Join(at, rest[0]), rest[1:], found)
	default:
		entries, _ := os.ReadDir(at) // unreadable folders have no effect on other programs either
		for _, e := range entries {
			if partMatches(rest[0], e.Name()) {
				findMatches(filepath.Join(at, e.Name()), rest[1:], found)
			}
		}
	}
}

func partMatches(part, name string) bool {
	matched, err := path.Match(part, name)
	return matched && err == nil
}

// literal returns a pattern's path up to the first wildcard, and whether it covers the whole pattern.
func (p *pattern) literal() (string, bool) {
	for i, part := range p.parts {
		if strings.Contains(part, "*") {
			return filepath.Join(p.parts[:i]...), part == everything && i == len(p.parts)-1
		}
	}
	return filepath.Join(p.parts...), true
}

// runs reports whether the command line itself runs one of the place's git subcommands.
func (p *pattern) runs(verbs []string) bool {
	return slices.ContainsFunc(p.verbs, func(verb string) bool { return slices.Contains(verbs, verb) })
}
