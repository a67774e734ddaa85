package rulefile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/docedit"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/shell"
)

// Limits on the files in which a person describes programs.
const (
	maxProgramFiles   = 100
	maxProgramEntries = 500 // of one file
)

// ProgramsFolder is the folder of these files, below umpire's own folder.
const ProgramsFolder = "programs"

// Programs is the knowledge about programs in the files of a folder.
type Programs struct {
	// Known is the knowledge in force; it may be nil.
	Known *shell.Knowledge
	// Files lists the paths of the files, readable or not.
	Files []string
	// Problems lists the errors. An entry with an error and an unreadable file are
	// skipped, so their programs ask like unknown ones.
	Problems []Problem
}

// Notes returns the errors as a person reads them.
func (l *Programs) Notes() []error {
	var notes []error
	for _, problem := range l.Problems {
		notes = append(notes, umpire.Errorf("left out: %w", problem))
	}
	return notes
}

// LoadPrograms reads HOME/programs/*.yaml. A missing folder or home means no knowledge, and
// is not an error.
func LoadPrograms(home string) Programs {
	var loaded Programs
	if home == "" {
		return loaded
	}
	folder := filepath.Join(home, ProgramsFolder)
	items, err := os.ReadDir(folder)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			loaded.Problems = append(loaded.Problems, Problem{File: folder, Text: escapeControl(err.Error())})
		}
		return loaded
	}
	var entries []programEntry
	for _, item := range items {
		path := filepath.Join(folder, item.Name())
		if ext := filepath.Ext(path); ext != ".yaml" && ext != ".yml" {
			continue
		}
		if len(loaded.Files) >= maxProgramFiles {
			loaded.Problems = append(
				loaded.Problems,
				Problem{File: folder, Text: fmt.Sprintf("more than %d files; the rest is not read", maxProgramFiles)},
			)
			break
		}
		loaded.Files = append(loaded.Files, path)
		found, problems := readPrograms(path)
		entries = append(entries, found...)
		loaded.Problems = append(loaded.Problems, problems...)
	}
	loaded.admit(entries)
	slices.SortStableFunc(loaded.Problems, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return loaded
}

// A programEntry is an entry with its position.
type programEntry struct {
	shell.Program
	at Problem
}

// admit adds the valid entries: their names are unique, and their examples have the
// expected results.
func (l *Programs) admit(entries []programEntry) {
	where := map[string]string{}
	var sound []shell.Program
	for _, e := range entries {
		err := shell.CheckExamples(e.Program)
		if bad, is := errors.AsType[*shell.ExampleError](err); is {
			err = umpire.Errorf("examples.safe: %q is not harmless: %w", bad.Line, catalogue.AsError(bad.Why))
		}
		for _, name := range e.Names {
			if err == nil && where[name] != "" {
				err = umpire.Errorf("program %q: already has an entry at %s", name, where[name])
			}
		}
		if err != nil {
			e.at.Text = escapeControl(err.Error())
			l.Problems = append(l.Problems, e.at)
			continue
		}
		for _, name := range e.Names {
			where[name] = e.Origin
		}
		sound = append(sound, e.Program)
	}
	known, err := shell.NewKnowledge(sound)
	if err != nil {
		l.Problems = append(l.Problems, Problem{Text: escapeControl(err.Error())})
		return
	}
	l.Known = known
}

// readPrograms reads one file. It must be a regular file that others cannot write,
// because its content lets programs run.
func readPrograms(path string) ([]programEntry, []Problem) {
	c, err := readRegular(path, maxYAMLSize)
	if err != nil {
		return nil, []Problem{{File: path, Text: escapeControl(err.Error())}}
	}
	if writableByOthers(c.mode) {
		return nil, []Problem{{File: path, Text: "others can write it, so that it is not read: chmod go-w"}}
	}
	return parsePrograms(path, c.data)
}

// parsePrograms reads the text of a file.
func parsePrograms(path string, data []byte) ([]programEntry, []Problem) {
	r := &programReader{path: path}
	if err := r.readFile(data); err != nil {
		return nil, []Problem{*problemOf(path, err)}
	}
	return r.entries, r.problems
}

// A programReader reads one file of programs.
type programReader struct {
	path     string
	entries  []programEntry
	problems []Problem
}

func (r *programReader) readFile(data []byte) error {
	d, err := openYAML(data)
	if err != nil || d.Root.Items == nil {
		return err
	}
	var file struct {
		Programs *docedit.Value `key:"programs"`
	}
	if err := d.Root.Decode(&file); err != nil {
		return err
	}
	list := file.Programs
	if list == nil {
		return d.Root.Fault(errors.New(`want a list "programs"`))
	}
	if err := wantKind(list, docedit.List, "programs"); err != nil {
		return list.Fault(err)
	}
	if len(list.Items) > maxProgramEntries {
		return list.Fault(umpire.Errorf("more than %d programs", maxProgramEntries))
	}
	for _, item := range list.Items {
		e := programEntry{at: Problem{File: r.path, Line: item.Line, Column: item.Column}}
		e.Origin = fmt.Sprintf("%s:%d", r.path, item.Line)
		if err := item.Decode(&e.Program); err == nil {
			sayVerbatim(&e.Program)
			r.entries = append(r.entries, e)
		} else if len(r.problems) < maxProblems {
			r.problems = append(r.problems, *problemOf(r.path, err))
		}
	}
	return nil
}

// sayVerbatim marks the texts of an entry as a person's own words.
func sayVerbatim(p *shell.Program) {
	p.Why = umpire.Verbatim(string(p.Why))
	for i := range p.Options {
		p.Options[i].Why = umpire.Verbatim(string(p.Options[i].Why))
	}
	for i := range p.Subs {
		sayVerbatim(&p.Subs[i])
	}
}
