package sandbox

import (
	"path/filepath"
	"slices"
	"sync"

	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/files/gitdir"
)

// A sentry knows the guarded paths that existed in the folders of a place before commands
// ran. Any others found during or after a command were made by it, and are set aside.
type sentry struct {
	mu       sync.Mutex
	surveyor surveyor
	running  int
	places   map[string]bool // trusted guarded places
	gits     map[string]bool // trusted git directories
	open     []string        // paths that running commands, or people meanwhile, may create

	folders, sealed []string // of the last command that could write
}

// Approve notes that a person allowed a guarded place to be created just now, other than
// through a command of this place.
func (p *Place) Approve(path string) {
	p.watch.mu.Lock()
	defer p.watch.mu.Unlock()
	if p.watch.running > 0 {
		p.watch.open = append(p.watch.open, path)
	}
}

// Sweep removes placeholders that a command left when it and its umpire were killed. It
// spares those in use.
func (p *Place) Sweep() {
	b := Box{place: p}
	for _, root := range p.Workspace {
		if plain, err := filepath.EvalSymlinks(root); err == nil {
			b.folders = append(b.folders, plain)
		}
	}
	p.watch.mu.Lock()
	found, err := p.watch.surveyor.survey(b.folders, nil, maxSurvey)
	p.watch.mu.Unlock()
	if err != nil {
		return // the first command reports it
	}
	var g guarded
	for _, root := range b.folders {
		g.folder(root, p.Home, found)
	}
	g.follow(p.Home)
	for _, path := range g.absent {
		if isPlaceholder(path) {
			_ = b.keepAbsent(path) // failures are left to the next command
		}
	}
	_ = b.Close(nil) // no command ended
}

// enter searches the folders of a command that is about to start. It trusts the files it
// finds, unless a running command may have made them.
func (p *Place) enter(b *Box) (*survey, error) {
	w := &p.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(b.folders) == 0 {
		return &survey{}, w.look(b)
	}
	w.folders, w.sealed = b.folders, b.sealed
	found, err := w.surveyor.survey(b.folders, b.sealed, maxSurvey)
	if err != nil {
		return nil, err
	}
	if w.running == 0 {
		w.places, w.gits, w.open = map[string]bool{}, map[string]bool{}, nil
		w.trust(found)
	} else if w.inspect(b, found) {
		if found, err = w.surveyor.survey(b.folders, b.sealed, maxSurvey); err != nil {
			return nil, err
		}
	}
	w.running++
	b.counted = true
	w.open = append(w.open, b.allowed...)
	return found, nil
}

// look sets aside paths made by running commands, before a command that writes nothing.
func (w *sentry) look(b *Box) error {
	if w.running == 0 {
		return nil
	}
	found, err := w.surveyor.survey(w.folders, w.sealed, maxSurvey)
	if err == nil {
		b.folders = w.folders
		w.inspect(b, found)
		b.folders = nil
	}
	return err
}

// recognize adds trusted git directories.
func (p *Place) recognize(dirs []string) {
	p.watch.mu.Lock()
	defer p.watch.mu.Unlock()
	for _, dir := range dirs {
		if p.watch.gits == nil {
			p.watch.gits = map[string]bool{}
		}
		p.watch.gits[dir] = true
	}
}

// leave searches the folders of a command that has ended, without a limit.
func (p *Place) leave(b *Box) {
	if p == nil || !b.counted {
		return
	}
	w := &p.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running--
	b.counted = false
	if b.cmd == nil || b.cmd.Process == nil {
		return // nothing ran
	}
	if found, err := w.surveyor.survey(b.folders, b.sealed, 0); err == nil {
		w.inspect(b, found)
	}
}

func (w *sentry) trust(found *survey) {
	for _, path := range found.guarded {
		w.places[path] = true
	}
	for _, path := range found.gits {
		if dir, err := gitdir.Find(path); err == nil {
			w.gits[dir] = true
			w.trustState(dir)
		}
	}
}

// trustState trusts the unfinished operations of a repository.
func (w *sentry) trustState(dir string) {
	for _, p := range guardedPatterns().git {
		if len(p.verbs) > 0 {
			findMatches(dir, p.parts, func(path string) { w.places[path] = true })
		}
	}
}

// inspect sets aside paths that are not trusted, and reports whether there were any.
func (w *sentry) inspect(b *Box, found *survey) bool {
	before := len(b.Notes)
	allowed := b.allowed
	b.allowed = slices.Concat(allowed, w.open)
	for _, path := range found.guarded {
		if !w.places[path] {
			b.made(path)
		}
	}
	for _, path := range found.gits {
		dir, err := gitdir.Find(path)
		switch {
		case err != nil || !files.WithinAny(b.folders, dir):
		case w.gits[dir]:
			b.unfinished(dir, w.places)
		default:
			w.gits[dir] = true
			b.disarm(dir)
		}
		if len(b.verbs) > 0 && err == nil {
			w.trustState(dir) // remaining state is the command line's purpose
		}
	}
	b.allowed = allowed
	return len(b.Notes) > before
}
