package rulefile

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/umpirehq/umpire"
)

// Health is the reliability of a rule file.
type Health uint8

// The healths.
const (
	HealthMissing   Health = iota // there is no file, like an empty list
	HealthOK                      // read, and its rules hold
	HealthDegraded                // invalid: its last good rules apply, or something more cautious
	HealthUntrusted               // its deny and ask rules hold, its allow rules sleep
)

var healthNames = [...]string{
	HealthMissing: "missing", HealthOK: "ok", HealthDegraded: "degraded", HealthUntrusted: "untrusted",
}

// String returns the health's name; a value out of range is "degraded".
func (h Health) String() string {
	if int(h) < len(healthNames) {
		return healthNames[h]
	}
	return healthNames[HealthDegraded]
}

// MarshalText writes the health's name.
func (h Health) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// A File is one rule file and its state.
type File struct {
	Layer
	Health Health
	// Problems lists the errors in the order of the file, at most maxProblems.
	Problems []Problem
	// Rules counts the rules in force. Inert counts the allow rules that are not in
	// force, because they are untrusted or have an unknown key.
	Rules, Inert int
	// Hooks counts the hooks in force.
	Hooks int
	// Hash is the SHA-256 of the content in hex, to which trust is bound. It is empty
	// if there is no content.
	Hash string

	// good is the content of the file when it was last valid.
	good        *document
	goodHash    string
	goodGuarded bool
	sleeping    []umpire.Rule
	inertHooks  []Hook
}

// Asleep returns the allow rules that are not in force because the file is not trusted.
func (f *File) Asleep() []umpire.Rule { return slices.Clone(f.sleeping) }

// AsleepHooks returns the hooks that do not run because the file is not trusted.
func (f *File) AsleepHooks() []Hook { return slices.Clone(f.inertHooks) }

// Untrusted reports whether something in the file sleeps until a person trusts it.
func (f *File) Untrusted() bool { return len(f.sleeping)+len(f.inertHooks) > 0 }

// A Set is the rules of all layers. It does not change once made, and may be
// read by any number of goroutines.
type Set struct {
	// Rules are in the order of the layers: managed, project, global.
	Rules []umpire.Rule
	// Hooks are the programs that run before and after calls, in the same order.
	Hooks []Hook
	Files []File
	// Degraded names the first file that may have held deny or ask rules which are not
	// in Rules, with its error: the file is invalid and no earlier content is known, or
	// such a rule does not even name its tool. The caller must then ask about every
	// call. It is "" if no rule is missing.
	Degraded string
}

// Options are the settings for reading rules. The zero value trusts no project file and
// lets no rule allow.
type Options struct {
	// Check reports whether a rule is valid. It may be called by several goroutines at
	// once.
	Check Check
	// Short reads the short form of a rule, which other tools' files use.
	Short func(string) (umpire.Rule, error)
	// Trust is the ledger of project files whose allow rules count.
	Trust Trust
	// Prepare gets each newly loaded set before the Watcher returns it to other callers. Do slow
	// work, such as compiling, there: until it returns, the previous set decides calls.
	Prepare func(*Set)
}

// Load reads the layers. It always returns a set, whose files have the errors. Previous,
// which may be nil, provides the last good rules of a file that has become invalid.
func Load(layers []Layer, previous *Set, o Options) *Set {
	entries, err := o.Trust.entries()
	set := &Set{Files: make([]File, 0, len(layers))}
	for _, l := range layers {
		f := loadFile(l, previous.file(l), o)
		if err != nil && l.Source == umpire.SourceProject && f.Health != HealthMissing {
			f.Problems = append(f.Problems, Problem{File: l.Path, Text: escapeControl(err.Error())})
		}
		set.addFile(f, entries)
	}
	return set
}

// file returns the set's file of a layer, or nil if it is new.
func (s *Set) file(l Layer) *File {
	if s == nil {
		return nil
	}
	for i := range s.Files {
		if s.Files[i].Layer == l {
			return &s.Files[i]
		}
	}
	return nil
}

// loadFile reads one file.
func loadFile(l Layer, previous *File, o Options) File {
	f := File{Layer: l}
	c, err := readRegular(l.Path, maxFileSize)
	if errors.Is(err, fs.ErrNotExist) {
		return f
	}
	if err != nil {
		return f.broken(previous, Problem{File: l.Path, Text: escapeControl(err.Error())})
	}
	f.Hash = hashOf(c.data)
	doc, problem := parseFile(l, c.data, o)
	if problem != nil {
		return f.broken(previous, *problem)
	}
	f.good, f.goodHash, f.goodGuarded = doc, f.Hash, c.guarded
	if l.Source == umpire.SourceUser {
		f.goodGuarded = !WritableByAll(l.Path)
	}
	f.Problems = slices.Clip(doc.problems)
	f.Health = HealthOK
	if doc.degraded {
		f.Health = HealthDegraded
	}
	return f
}

// broken keeps the content of the file's last valid version.
func (f File) broken(previous *File, p Problem) File {
	f.Health, f.Problems = HealthDegraded, []Problem{p}
	if previous != nil {
		f.good, f.goodHash, f.goodGuarded = previous.good, previous.goodHash, previous.goodGuarded
	}
	return f
}

// addFile adds a file's rules to the set, except for allow rules that sleep.
func (s *Set) addFile(f File, entries []Trusted) {
	if f.Health != HealthMissing {
		s.settle(&f, entries)
	}
	s.Files = append(s.Files, f)
}

// trouble describes a file's problem.
func (f *File) trouble() string {
	if len(f.Problems) == 0 {
		return escapeControl(f.Path) + ": cannot be read"
	}
	return f.Problems[0].Error()
}

func (s *Set) settle(f *File, entries []Trusted) {
	if s.Degraded == "" && (f.good == nil || f.good.blind) {
		s.Degraded = f.trouble()
	}
	if f.good == nil {
		return
	}
	f.Inert = f.good.asleep
	why := f.mistrust(entries)
	rules := f.good.rules
	if why == "" && len(s.Rules) == 0 && len(rules) > 0 {
		s.Rules, f.Rules, rules = slices.Clip(rules), len(rules), nil
	}
	s.Rules = slices.Grow(s.Rules, len(rules))
	for _, r := range rules {
		if why != "" && r.Action == umpire.Allow {
			f.Inert++
			f.sleeping = append(f.sleeping, r)
			continue
		}
		s.Rules = append(s.Rules, r)
		f.Rules++
	}
	s.settleHooks(f, why)
	if why == "" || f.Health == HealthDegraded {
		return
	}
	f.Health = HealthUntrusted
	if f.Source != umpire.SourceProject {
		f.Problems = append(f.Problems, Problem{File: f.Path, Text: why})
	}
}

// settleHooks adds a file's hooks to the set. Hooks run programs for the author of the
// file, so they run only if its allow rules would count.
func (s *Set) settleHooks(f *File, why string) {
	if why != "" {
		f.inertHooks = f.good.hooks
		return
	}
	s.Hooks = append(s.Hooks, f.good.hooks...)
	f.Hooks = len(f.good.hooks)
}

// mistrust returns why a file's allow rules do not count, or "".
func (f *File) mistrust(entries []Trusted) string {
	switch f.Source {
	case umpire.SourceProject:
		if !isTrusted(entries, f.Root, f.Path, f.goodHash) {
			return "the project's allow rules and hooks are not trusted"
		}
	case umpire.SourceUser:
		if !f.goodGuarded {
			return "its allow rules and hooks are ignored: everybody can write the file or its folder; chmod go-w"
		}
	case umpire.SourceManaged:
		if !f.goodGuarded {
			return "its allow rules and hooks are ignored: others than the administrator can write the file or its " +
				"folder"
		}
	case umpire.SourceFlag:
	case umpire.SourceUnknown, umpire.SourceBuiltin, umpire.SourceSession:
		return fmt.Sprintf("a file can not be a source of kind %s", f.Source)
	default:
		return "the source of the file is unknown"
	}
	return ""
}
