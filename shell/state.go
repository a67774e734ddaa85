package shell

import (
	"maps"
	"path"
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"github.com/umpirehq/umpire/shell/internal/dialect"
)

// maxDirs is how many possible working directories are followed at once.
const maxDirs = 4

// A state is what is known of the shell at one point of the line.
type state struct {
	// dirs are the folders that may be the working directory; none means that it
	// is not known. failed are those it would be if the last command failed.
	dirs, failed []string
	vars         map[string]value
	// functions shadow programs; a nil body is a name whose meaning is not known,
	// such as an alias.
	functions map[string]*syntax.Stmt
	args      []word         // positional parameters; nil is not known
	shells    dialect.Set    // of which one runs the code
	calling   []*syntax.Stmt // bodies of the functions being walked
}

// A value is what is known of a variable.
type value struct {
	words []word // one for a plain variable
	array bool
	fixed bool // must not be changed
}

func newState(env Env) *state {
	s := &state{vars: map[string]value{}, functions: map[string]*syntax.Stmt{}, shells: dialect.Any}
	if env.Dir != "" {
		s.dirs = []string{env.Dir}
	}
	if env.Home != "" {
		s.vars["HOME"] = plainValue(env.Home)
	}
	return s
}

func plainValue(text string) value { return value{words: []word{{text: text}}} }

// unknownValue is the value of a variable that only running would tell.
func unknownValue() value { return value{words: []word{{open: true, split: true}}} }

// clone returns a copy whose changes do not reach s: a subshell.
func (s *state) clone() *state {
	c := *s
	c.vars = maps.Clone(s.vars)
	c.functions = maps.Clone(s.functions)
	return &c
}

// merge makes s what is known when either s or other happened.
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
			s.functions[name] = nil
		}
	}
	for name := range s.functions {
		if _, ok := other.functions[name]; !ok {
			s.functions[name] = nil
		}
	}
}

// or is what is known of a variable that is one of two.
func (v value) or(o value) value {
	u := unknownValue()
	if v.isNumber() && o.isNumber() {
		u = aNumber()
	}
	u.fixed = v.fixed || o.fixed
	u.words[0].foreign = v.mayRun() || o.mayRun()
	return u
}

// mayRun reports a value that must not be evaluated as arithmetic.
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

// enterFolder changes the working directory to one that is not known to exist.
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

// joinPath makes a path absolute without cleaning it: `..` after a link leads
// elsewhere than cleaning would tell.
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
