package sandbox

import (
	"crypto/sha1"
	"crypto/sha256"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/umpirehq/umpire/internal/gitdir"
	"github.com/umpirehq/umpire/policy"
)

// This file knows which files a command cannot read: those that the policy's rules about
// secrets name. In a home and on the machine they are where programs look for them; in the
// workspace they are looked for. A file that git has unchanged stays: everyone with the
// repository has it, and hiding it would look like a change.

// The limits of looking for secrets in a workspace.
const (
	secretDepth  = 8
	maxSecretDir = 4000 // folders that are looked into
)

// neverHolds are folders that other people's programs fill, and git's own.
var neverHolds = []string{".git", "node_modules", "vendor", ".venv", "venv", "target", "__pycache__"}

// The patterns of the policy, sorted by where they are looked for.
type secretNames struct {
	// byName are the patterns that hold at any depth, by the last part of the path, without
	// the / at the beginning; wild are those last parts that have wildcards.
	byName  map[string][]string
	wild    []wildName
	inHome  []string // below the home
	machine []string // from the root
	except  []string
}

var secretsKnown = sync.OnceValue(func() *secretNames {
	patterns, except := policy.SecretFiles()
	known := &secretNames{byName: map[string][]string{}}
	for _, p := range except {
		known.except = append(known.except, strings.TrimPrefix(p, "/"))
	}
	for _, p := range patterns {
		p = strings.TrimSuffix(p, "/**") // what is below goes with the folder
		switch {
		case strings.HasPrefix(p, "~/"):
			known.inHome = append(known.inHome, p[2:])
		case strings.HasPrefix(p, "/**/"):
			known.inHome = append(known.inHome, p[4:])
			known.add(p[1:])
		default:
			known.machine = append(known.machine, p)
		}
	}
	return known
})

func (k *secretNames) add(pattern string) {
	name := path.Base(pattern)
	if strings.ContainsAny(name, "*?[") && k.byName[name] == nil {
		k.wild = append(k.wild, wildOf(name))
	}
	k.byName[name] = append(k.byName[name], pattern)
}

// names reports whether a rule about secrets names an entry of a folder. The name alone
// decides for nearly all entries.
func (k *secretNames) names(dir, name string) bool {
	patterns := k.byName[name]
	for i := range k.wild {
		if k.wild[i].fits(name) {
			patterns = append(slices.Clip(patterns), k.byName[k.wild[i].pattern]...)
		}
	}
	if len(patterns) == 0 {
		return false
	}
	whole := strings.TrimPrefix(filepath.ToSlash(filepath.Join(dir, name)), "/")
	return matchesAny(patterns, whole) && !matchesAny(k.except, whole)
}

// A wildName is a pattern of a name. Every entry of a project is compared with it, so one whose
// only wildcard is a star is taken apart beforehand.
type wildName struct {
	pattern, first, last string
	simple               bool
}

func wildOf(pattern string) wildName {
	first, last, _ := strings.Cut(pattern, "*")
	return wildName{pattern, first, last, !strings.ContainsAny(last, "*?[") && !strings.ContainsAny(first, "?[")}
}

// fits is path.Match.
func (w *wildName) fits(name string) bool {
	if w.simple {
		return len(name) >= len(w.first)+len(w.last) && strings.HasPrefix(name, w.first) &&
			strings.HasSuffix(name, w.last)
	}
	ok, _ := path.Match(w.pattern, name) // the policy's own patterns are valid
	return ok
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, _ := doublestar.Match(p, name) // the policy's own patterns are valid
		return ok
	})
}

// secrets are the files and folders that a command cannot read, without links.
func (p *Place) secrets() []string {
	known := secretsKnown()
	var found []string
	add := func(path string) {
		if plain, err := filepath.EvalSymlinks(path); err == nil && !slices.Contains(found, plain) {
			found = append(found, plain)
		}
	}
	for _, pattern := range known.machine {
		for _, file := range globPaths(pattern) {
			add(file)
		}
	}
	if p.Home != "" {
		for _, pattern := range known.inHome {
			for _, file := range globPaths(globEscape(p.Home) + "/" + pattern) {
				if !matchesAny(known.except, strings.TrimPrefix(file, "/")) {
					add(file)
				}
			}
		}
	}
	inside := p.secretsInside(known)
	tracked := gitdir.Tracked(inside, sha1.New, sha256.New)
	for _, file := range inside {
		if !tracked[file] {
			add(file)
		}
	}
	return found
}

// globPaths are the paths that fit a pattern.
func globPaths(pattern string) []string {
	found, _ := filepath.Glob(filepath.FromSlash(pattern)) // the policy's own patterns are valid
	return found
}

func globEscape(dir string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}

// secretsInside looks for secrets in the workspace, level by level.
func (p *Place) secretsInside(known *secretNames) (found []string) {
	var level []string
	for _, dir := range p.Workspace {
		if plain, err := filepath.EvalSymlinks(dir); err == nil {
			level = append(level, plain)
		}
	}
	looked := 0
	for range secretDepth {
		var next []string
		for _, dir := range level {
			if looked++; looked > maxSecretDir {
				return found
			}
			entries, _ := os.ReadDir(dir) // what cannot be read is not read by the command either
			for _, e := range entries {
				switch {
				case known.names(dir, e.Name()):
					found = append(found, filepath.Join(dir, e.Name()))
				case e.IsDir() && !slices.Contains(neverHolds, e.Name()):
					next = append(next, filepath.Join(dir, e.Name()))
				}
			}
		}
		level = next
	}
	return found
}
