package sandbox

import (
	"crypto/sha1"
	"crypto/sha256"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/files/gitdir"
	"github.com/umpirehq/umpire/internal/secret/sensitive"
)

// This file finds the files that a command cannot read: those named in the policy's rules
// about secrets. Paths in a home or on the machine are fixed; the workspace is searched.
// A file that is unchanged in git stays visible: everyone with the repository has it, and
// hiding it would look like a change.

// The limits of the search for secrets in a workspace.
const (
	secretDepth  = 8
	maxSecretDir = 4000 // searched folders
)

// neverHolds are folders with other people's programs, and git's own.
var neverHolds = []string{".git", "node_modules", "vendor", ".venv", "venv", "target", "__pycache__"}

// secretNames are the policy's patterns, grouped by location.
type secretNames struct {
	// byName has the patterns for any depth, without the leading slash, by the last part
	// of the path. wild has the last parts with wildcards, by their last byte, or by 0 if
	// that is a wildcard.
	byName  map[string][]string
	wild    map[byte][]wildName
	inHome  []string // below the home
	machine []string // from the root
	except  []string
}

var secretsKnown = sync.OnceValue(func() *secretNames {
	patterns, except := sensitive.SecretFiles()
	known := &secretNames{byName: map[string][]string{}, wild: map[byte][]wildName{}}
	for _, p := range except {
		known.except = append(known.except, strings.TrimPrefix(p, "/"))
	}
	for _, p := range patterns {
		p = strings.TrimSuffix(p, "/**") // the folder covers its contents
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
		w := wildOf(name)
		k.wild[lastByte(w.last)] = append(k.wild[lastByte(w.last)], w)
	}
	k.byName[name] = append(k.byName[name], pattern)
}

// names reports whether a rule about secrets covers an entry of a folder. The name alone
// decides for nearly all entries.
func (k *secretNames) names(dir, name string) bool {
	patterns := k.byName[name]
	for _, end := range [...]byte{0, lastByte(name)} {
		for i := range k.wild[end] {
			if w := &k.wild[end][i]; w.fits(name) {
				patterns = append(slices.Clip(patterns), k.byName[w.pattern]...)
			}
		}
	}
	if len(patterns) == 0 {
		return false
	}
	whole := strings.TrimPrefix(filepath.ToSlash(filepath.Join(dir, name)), "/")
	return matchesAny(patterns, whole) && !matchesAny(k.except, whole)
}

func lastByte(text string) byte {
	if text == "" {
		return 0
	}
	return text[len(text)-1]
}

// A wildName is a pattern for a name. Every entry of a project is compared with some, so
// the parts before the first and after the last wildcard are computed in advance.
type wildName struct {
	pattern, first, last string
	simple               bool // its only wildcard is a star
}

func wildOf(pattern string) wildName {
	const wildcards = "*?[]\\"
	begin, end := strings.IndexAny(pattern, wildcards), strings.LastIndexAny(pattern, wildcards)
	return wildName{pattern, pattern[:begin], pattern[end+1:], begin == end && pattern[begin] == '*'}
}

// fits is like path.Match, but faster.
func (w *wildName) fits(name string) bool {
	if !strings.HasSuffix(name, w.last) || !strings.HasPrefix(name, w.first) {
		return false
	}
	if w.simple {
		return len(name) >= len(w.first)+len(w.last)
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

// secrets returns the files and folders that a command cannot read, with links resolved.
func (p *Place) secrets() []string {
	known := secretsKnown()
	var found []string
	add := func(path string) {
		if plain, err := filepath.EvalSymlinks(path); err == nil && !slices.Contains(found, plain) {
			found = append(found, plain)
		}
	}
	for _, pattern := range known.machine {
		for _, file := range files.Glob("/", strings.TrimPrefix(pattern, "/")) {
			add(file)
		}
	}
	if p.Home != "" {
		for _, pattern := range known.inHome {
			for _, file := range files.Glob(p.Home, pattern) {
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

// secretsInside searches the workspace for secrets, level by level.
func (p *Place) secretsInside(known *secretNames) (found []string) {
	var level []string
	for _, dir := range p.Workspace {
		if plain, err := filepath.EvalSymlinks(dir); err == nil {
			level = append(level, plain)
		}
	}
	search := p.newSecretSearch(known, level)
	left := maxSecretDir
	for range secretDepth {
		level = level[:min(len(level), left)]
		left -= len(level)
		var secrets []string
		secrets, level = search.add(search.lookInto(level))
		found = append(found, secrets...)
	}
	search.save()
	return found
}

// lookInto reads folders concurrently, because the command waits for it.
func (s *secretSearch) lookInto(folders []string) []secretLook {
	looks := make([]secretLook, len(folders))
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(len(folders), runtime.GOMAXPROCS(0)) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(folders); i = int(next.Add(1)) - 1 {
				looks[i] = s.look(folders[i])
			}
		})
	}
	all.Wait()
	return looks
}

// readNames reads the names in a folder, as far as possible.
func (k *secretNames) readNames(l *secretLook) error {
	f, err := os.Open(l.Path)
	if err != nil {
		return err // the command cannot read it either
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	for _, e := range entries {
		switch {
		case k.names(l.Path, e.Name()):
			l.Secrets = append(l.Secrets, e.Name())
		case e.IsDir() && !slices.Contains(neverHolds, e.Name()):
			l.Inner = append(l.Inner, e.Name())
		}
	}
	slices.Sort(l.Secrets)
	slices.Sort(l.Inner) // makes the limit of folders deterministic
	return err
}
