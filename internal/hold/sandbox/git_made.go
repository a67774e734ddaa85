package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/files/gitdir"
)

// This file checks repositories that a command has made. Git, an editor or a prompt that looks at a
// project also looks into nested repositories, and runs programs named in their settings.

// disarm sets aside the files that make git run programs in one repository.
func (b *Box) disarm(dir string) {
	for _, name := range []string{"config", "config.worktree"} {
		if gitdir.NamesPrograms(filepath.Join(dir, name)) {
			b.made(filepath.Join(dir, name))
		}
	}
	hooks, _ := os.ReadDir(filepath.Join(dir, "hooks")) // most repositories have no such folder
	for _, e := range hooks {
		if !strings.HasSuffix(e.Name(), ".sample") {
			b.made(filepath.Join(dir, "hooks"))
			break
		}
	}
	b.unfinished(dir, nil)
	to, err := files.ReadLine(filepath.Join(dir, "commondir"))
	if !errors.Is(err, fs.ErrNotExist) && (err != nil || !b.place.watch.gits[gitPath(to, dir, "")]) {
		b.made(filepath.Join(dir, "commondir"))
	}
}

// unfinished sets aside the state of a new unfinished git operation, because continuing
// it would run the commands that it lists.
func (b *Box) unfinished(dir string, before map[string]bool) {
	for _, p := range guardedPatterns().git {
		if len(p.verbs) > 0 && !p.runs(b.verbs) {
			findMatches(dir, p.parts, func(path string) {
				if !before[path] {
					b.made(path)
				}
			})
		}
	}
}

// made sets aside a path that a command made, and notes it, unless a person allowed the
// path by name.
func (b *Box) made(path string) {
	if !isPresent(path) || files.HoldsAny(path, b.allowed) {
		return
	}
	note := fmt.Sprintf("the command made %s, by which programs are run without anyone asking", path)
	if aside, err := b.setAside(path); err != nil {
		note += fmt.Sprintf("; it could not be renamed: %v", err)
	} else {
		note += "; it is " + aside + " now"
	}
	b.Notes = append(b.Notes, note)
}
