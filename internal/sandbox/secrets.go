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
	"github.com/umpirehq/umpire/internal/gitdir"
	"github.com/umpirehq/umpire/internal/sensitive"
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
	// the / at the beginning; wild are those last parts that have wildcards, by their last
	// byte, 0 for a wildcard.
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
		w := wildOf(name)
		k.wild[lastByte(w.last)] = append(k.wild[lastByte(w.last)], w)
	}
	k.byName[name] = append(k.byName[name], pattern)
}

// names reports whether a rule about secrets names an entry of a folder. The name alone
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

// A wildName is a pattern of a name. Every entry of a project is compared with some, so what
// stands before the first wildcard and after the last one is known beforehand.
type wildName struct {
	pattern, first, last string
	simple               bool // its only wildcard is a star
}

func wildOf(pattern string) wildName {
	const wildcards = "*?[]\\"
	begin, end := strings.IndexAny(pattern, wildcards), strings.LastIndexAny(pattern, wildcards)
	return wildName{pattern, pattern[:begin], pattern[end+1:], begin == end && pattern[begin] == '*'}
}

// fits is path.Match.
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

// secretsInside looks for secrets in the workspace, level by level.
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

// lookInto looks into folders, into several at a time: the command waits for it.
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

// readNames reads the names in a folder, as far as that can be done.
func (k *secretNames) readNames(l *secretLook) error {
	f, err := os.Open(l.Path)
	if err != nil {
		return err // what cannot be read is not read by the command either
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
	slices.Sort(l.Inner) // the limit of folders leaves out the same ones each time
	return err
}
