package shell

import (
	"maps"
	"path"
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"github.com/umpirehq/umpire/shell/internal/scan"
)

// maxDirs is the maximum number of possible working directories to follow at once.
const maxDirs = 4

// A state is the known state of the shell at one point of the line.
type state struct {
	// dirs are the possible working directories; empty means unknown. failed are the
	// directories if the last command failed.
	dirs, failed []string
	vars         map[string]value
	// functions shadow programs; a nil body means an unknown meaning, such as that of an alias.
	functions map[string]*syntax.Stmt
	args      []word         // positional parameters; nil means unknown
	shells    scan.Shells    // one of these runs the code
	calling   []*syntax.Stmt // bodies of the functions being walked
}

// A value is the known value of a variable.
type value struct {
	words []word // one for a plain variable
	array bool
	fixed bool // must not be changed
}

func newState(env Env) *state {
	s := &state{vars: map[string]value{}, shells: scan.AnyShell}
	if env.Dir != "" {
		s.dirs = []string{env.Dir}
	}
	if env.Home != "" {
		s.vars["HOME"] = plainValue(env.Home)
	}
	return s
}

func plainValue(text string) value { return value{words: []word{{text: text}}} }

// unknownValue returns the value of a variable that is known only at run time.
func unknownValue() value { return value{words: []word{{open: true, split: true}}} }

// clone returns a copy whose changes do not affect s: a subshell.
func (s *state) clone() *state {
	c := *s
	c.vars = maps.Clone(s.vars)
	c.functions = maps.Clone(s.functions)
	return &c
}

// merge sets s to the common knowledge of s and other.
func (s *state) merge(other *state) {
	s.dirs = joinFolders(s.dirs, other.dirs)
	s.failed = nil
	for name, v := range s.vars {
		if o, ok := other.vars[name]; !ok || !v.equal(o) {
			s.vars[name] = v.or(o)
		}
	}
	for name, o := range other.vars {
		if _, ok := s.vars[name]; !ok {
			s.vars[name] = unknownValue().or(o)
		}
	}
	for name, body := range other.functions {
		if mine, ok := s.functions[name]; !ok || mine != body {
			s.setFunction(name, nil)
		}
	}
	for name := range s.functions {
		if _, ok := other.functions[name]; !ok {
			s.functions[name] = nil
		}
	}
}

// setFunction gives a name its meaning; few lines define functions.
func (s *state) setFunction(name string, body *syntax.Stmt) {
	if s.functions == nil {
		s.functions = map[string]*syntax.Stmt{}
	}
	s.functions[name] = body
}

// or returns the common knowledge of two values.
func (v value) or(o value) value {
	u := unknownValue()
	if v.isNumber() && o.isNumber() {
		u = aNumber()
	}
	u.fixed = v.fixed || o.fixed
	u.words[0].foreign = v.mayRun() || o.mayRun()
	return u
}

// mayRun reports whether a value must not be evaluated as arithmetic.
func (v value) mayRun() bool {
	return slices.ContainsFunc(v.words, func(wd word) bool { return wd.foreign || runsWhenEvaluated(wd.text) })
}

func (v value) isNumber() bool { return !v.array && len(v.words) == 1 && v.words[0].isNumber() }

func (v value) equal(o value) bool {
	return v.array == o.array && v.fixed == o.fixed && slices.Equal(v.words, o.words)
}

// joinFolders joins two sets of possible folders; an unknown one makes all unknown.
func joinFolders(a, b []string) []string {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	all := slices.Clone(a)
	for _, dir := range b {
		if !slices.Contains(all, dir) {
			all = append(all, dir)
		}
	}
	if len(all) > maxDirs {
		return nil
	}
	return all
}

// forgetOutcome forgets whether the last command failed: either may have happened.
func (s *state) forgetOutcome() {
	if s.failed != nil {
		s.dirs = joinFolders(s.dirs, s.failed)
		s.failed = nil
	}
}

// enterFolder changes the working directory to one that may not exist.
func (s *state) enterFolder(target word, isDir func(string) bool) {
	before := s.dirs
	s.dirs, s.failed = nil, nil
	if target.open || target.glob || target.text == "" {
		return
	}
	if path.IsAbs(target.text) {
		s.dirs = []string{target.text}
	} else {
		for _, dir := range before {
			s.dirs = append(s.dirs, joinPath(dir, target.text))
		}
	}
	for _, dir := range s.dirs {
		if isDir == nil || !isDir(dir) {
			s.failed = before
		}
	}
}

// joinPath makes a path absolute without cleaning it, because `..` after a link may lead
// elsewhere.
func joinPath(dir, name string) string {
	switch {
	case path.IsAbs(name):
		return name
	case name == "" || name == ".":
		return dir
	case dir == "/":
		return "/" + name
	}
	return dir + "/" + name
}
