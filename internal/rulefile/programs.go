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

	"go.yaml.in/yaml/v3"

	"github.com/umpirehq/umpire"
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
				err = umpire.Errorf("program %q: has another entry at %s", name, where[name])
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
	r := &programReader{reader: reader{layer: Layer{Path: path}}}
	top, problem := r.yamlTop(data)
	if problem != nil {
		return nil, []Problem{*problem}
	}
	if top == nil {
		return nil, nil
	}
	var list *yaml.Node
	err := r.fields(top, "", map[string]func(*yaml.Node) error{"programs": func(n *yaml.Node) error {
		list = n
		return wantList(n, errors.New("a list"))
	}})
	if err != nil {
		return nil, []Problem{*r.wrapError(top, err)}
	}
	if list == nil {
		return nil, []Problem{*r.wrapError(top, errors.New(`want a list "programs"`))}
	}
	if len(list.Content) > maxProgramEntries {
		return nil, []Problem{*r.wrapError(list, umpire.Errorf("more than %d programs", maxProgramEntries))}
	}
	for _, n := range list.Content {
		r.entry(n)
	}
	return r.entries, r.problems
}

// A programReader reads one file of programs.
type programReader struct {
	reader
	entries  []programEntry
	problems []Problem
}

func (r *programReader) entry(n *yaml.Node) {
	e := programEntry{at: r.yamlAt(n)}
	e.Origin = fmt.Sprintf("%s:%d", r.layer.Path, n.Line)
	if err := r.program(n, "", &e.Program); err != nil {
		if len(r.problems) < maxProblems {
			r.problems = append(r.problems, *r.wrapError(n, err))
		}
		return
	}
	r.entries = append(r.entries, e)
}

// program reads an entry, or a subcommand below the given field.
func (r *programReader) program(n *yaml.Node, field string, p *shell.Program) error {
	return r.fields(n, field, map[string]func(*yaml.Node) error{
		"names":       readTexts(&p.Names),
		"risk":        func(n *yaml.Node) error { return readRisk(n, &p.Risk) },
		"why":         verbatim(&p.Why),
		"checked":     text1(&p.Checked),
		"consequence": text1(&p.Consequence),
		"style":       text1(&p.Style),
		"args":        text1(&p.Args),
		"lax":         readTruth(&p.Lax),
		"peeks":       readTruth(&p.Peeks),
		"replace":     readTruth(&p.Replace),
		"options": func(n *yaml.Node) error {
			p.Options = make([]shell.Option, len(n.Content))
			return r.each(
				n, field+"options",
				func(i int, item *yaml.Node, at string) error { return r.option(item, at, &p.Options[i]) },
			)
		},
		"subs": func(n *yaml.Node) error {
			p.Subs = make([]shell.Program, len(n.Content))
			return r.each(
				n, field+"subs",
				func(i int, item *yaml.Node, at string) error { return r.program(item, at, &p.Subs[i]) },
			)
		},
		"examples": func(n *yaml.Node) error {
			return r.fields(n, field+"examples.", map[string]func(*yaml.Node) error{
				"safe": readLines(&p.Examples.Safe), "asks": readLines(&p.Examples.Asks),
			})
		},
	})
}

func (r *programReader) option(n *yaml.Node, field string, o *shell.Option) error {
	return r.fields(n, field, map[string]func(*yaml.Node) error{
		"names": readTexts(&o.Names), "does": readTexts(&o.Does), "why": verbatim(&o.Why),
		"except":      readTexts(&o.Except),
		"consequence": text1(&o.Consequence),
	})
}

// each reads the items of a list.
func (r *programReader) each(n *yaml.Node, field string, read func(i int, item *yaml.Node, at string) error) error {
	if err := wantList(n, errors.New("a list")); err != nil {
		return err
	}
	for i, item := range n.Content {
		if err := read(i, item, fmt.Sprintf("%s[%d].", field, i)); err != nil {
			return err
		}
	}
	return nil
}

// A fieldError is an error with its own position.
type fieldError struct {
	node *yaml.Node
	text string
}

func (e *fieldError) Error() string { return e.text }

// wrapError adds the position to an error.
func (r *programReader) wrapError(n *yaml.Node, err error) *Problem {
	if e, ok := errors.AsType[*fieldError](err); ok {
		n = e.node
	}
	return r.yamlProblem(n, err.Error())
}

// fields reads a mapping and rejects unknown keys. An unknown key may have been meant
// as a restriction, so it invalidates the whole entry.
func (r *programReader) fields(n *yaml.Node, prefix string, known map[string]func(*yaml.Node) error) error {
	if n.Kind != yaml.MappingNode {
		return &fieldError{n, strings.TrimPrefix(strings.TrimSuffix(prefix, ".")+": want keys and values", ": ")}
	}
	var seen []string
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		read := known[key.Value]
		switch {
		case read == nil:
			return &fieldError{key, prefix + unknownKey(key.Value, sortedKeys(known))}
		case slices.Contains(seen, key.Value):
			return &fieldError{key, fmt.Sprintf("%skey %q stands twice", prefix, key.Value)}
		}
		seen = append(seen, key.Value)
		if err := read(value); err != nil {
			if e, ok := errors.AsType[*fieldError](err); ok {
				return e
			}
			return &fieldError{value, fmt.Sprintf("%s%s: %v", prefix, key.Value, err)}
		}
	}
	return nil
}

func sortedKeys(known map[string]func(*yaml.Node) error) []string {
	keys := make([]string, 0, len(known))
	for key := range known {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func wantList(n *yaml.Node, what error) error {
	if n.Kind != yaml.SequenceNode {
		return umpire.Errorf("want %w", what)
	}
	return nil
}

// text1 reads one text. Numbers and booleans are taken literally.
func text1(into *string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
			return errors.New("want a text")
		}
		*into = n.Value
		return nil
	}
}

// verbatim reads a person's own words.
func verbatim(into *umpire.Phrase) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		var text string
		err := text1(&text)(n)
		*into = umpire.Verbatim(text)
		return err
	}
}

// readTexts reads words: in one text with blanks between them, or as a list.
func readTexts(into *[]string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
			*into = strings.Fields(n.Value)
			return nil
		}
		err := readLines(into)(n)
		if err == nil && slices.ContainsFunc(*into, func(word string) bool { return len(strings.Fields(word)) != 1 }) {
			err = errors.New("want words without blanks")
		}
		return err
	}
}

// readLines reads a list of texts.
func readLines(into *[]string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if err := wantList(n, errors.New("a list of texts")); err != nil {
			return err
		}
		for _, item := range n.Content {
			var line string
			if err := text1(&line)(item); err != nil {
				return err
			}
			*into = append(*into, line)
		}
		return nil
	}
}

func readTruth(into *bool) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
			return errors.New("want true or false")
		}
		*into = strings.EqualFold(n.Value, "true")
		return nil
	}
}

func readRisk(n *yaml.Node, into *umpire.Risk) error {
	if n.Kind != yaml.ScalarNode {
		return errors.New("want safe, low, medium or high")
	}
	return into.UnmarshalText([]byte(n.Value))
}
