package setup

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/policy"
)

// A Start describes how and where a host was started. This determines its own restrictions.
type Start struct {
	// Args are its arguments, and Getenv its environment.
	Args   []string
	Getenv func(string) string
	// Home is the user's, Folder is the registered folder of the host's settings, and Project the
	// folder that it was started in.
	Home, Folder, Project string
	// Turn is Codex's record of the turn.
	Turn host.CodexTurn
}

// Limits are the restrictions that a host applies by itself.
type Limits struct {
	// Rules are about commands. Each reaches at least as far as the host's own rule.
	Rules []umpire.Rule
	// Outside is set if the host asks about paths outside the project.
	Outside bool
}

// limitReaders are the hosts with readable limits. Claude Code's settings are a file of rules for
// umpire itself.
var limitReaders = map[string]func(*Start) (Limits, error){
	"codex": codexLimits, "gemini": geminiLimits, "copilot": copilotLimits, "opencode": openCodeLimits,
}

// Limits returns the limits of a host that was started this way. It fails if the host's commands
// must not be replaced: some of its rules are unreadable, it asks about every command, or it has
// its own sandbox.
func (s *Start) Limits(host string) (Limits, error) {
	read := limitReaders[host]
	if read == nil {
		return Limits{}, umpire.Errorf("the rules of %s are not read", host)
	}
	l, err := read(s)
	if err != nil {
		return Limits{}, err
	}
	for i := range l.Rules {
		l.Rules[i].Source = umpire.SourceUser
		l.Rules[i].ID = umpire.RuleID("limit-" + strconv.Itoa(i+1))
		if err := policy.Validate(l.Rules[i]); err != nil {
			return Limits{}, err
		}
	}
	return l, nil
}

var (
	errLimitsAll = errors.New("it denies or asks about every command")
	errSandboxed = errors.New("it runs commands in its own sandbox")
	errAsksFirst = errors.New("its mode asks about commands")
)

// deny adds a limit for the commands of a pattern, in which * and ? match anything. The limit
// covers all commands that begin with the words before the first of them.
func (l *Limits) deny(pattern string) error {
	words := pattern
	if i := strings.IndexAny(pattern, "*?"); i >= 0 {
		words = pattern[:i]
		words = words[:strings.LastIndexAny(words, " \t")+1]
	}
	r, _ := lineRule(umpire.Deny, words, false)
	if r.Match == (umpire.Match{}) {
		return errLimitsAll
	}
	l.Rules = append(l.Rules, r)
	return nil
}

// add adds the entries of a list that ask or refuse.
func (l *Limits) add(list []Allowance) error {
	for _, a := range list {
		switch {
		case a.Rule.Action == umpire.Allow:
		case a.Rule.Match.CommandPrefix == "":
			return errLimitsAll
		default:
			l.Rules = append(l.Rules, a.Rule)
		}
	}
	return nil
}

// folder returns the folder of the host's settings: the registered one, a variable's, or the usual
// one.
func (s *Start) folder(variable, usual string) string {
	switch {
	case s.Folder != "":
		return s.Folder
	case variable != "" && s.Getenv(variable) != "":
		return s.Getenv(variable)
	}
	return filepath.Join(s.Home, usual)
}

// upward returns the paths of a name in the project and in every folder above it.
func (s *Start) upward(names ...string) []string {
	var all []string
	for dir := s.Project; ; dir = filepath.Dir(dir) {
		for _, name := range names {
			all = append(all, filepath.Join(dir, name))
		}
		if filepath.Dir(dir) == dir {
			return all
		}
	}
}

// option returns the value of the last of some options, and whether one was given. A value follows
// in the next word, or after =.
func (s *Start) option(names ...string) (value string, given bool) {
	for i, arg := range s.Args {
		name, joined, is := strings.Cut(arg, "=")
		if !slices.Contains(names, name) {
			continue
		}
		value, given = joined, true
		if !is && i+1 < len(s.Args) {
			value = s.Args[i+1]
		}
	}
	return value, given
}

// has reports whether one of some options was given.
func (s *Start) has(names ...string) bool {
	_, given := s.option(names...)
	return given
}

// filesIn returns the files of some folders that match a pattern.
func filesIn(folders []string, patterns ...string) (found []string) {
	for _, dir := range folders {
		for _, pattern := range patterns {
			found = append(found, files.Glob(dir, pattern)...)
		}
	}
	return found
}

// readEach reads those of the files that exist.
func readEach(paths []string, read func(text []byte) error) error {
	for _, path := range paths {
		text, err := files.ReadSmall(path, maxSettings)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = read(text)
		}
		if err != nil {
			return umpire.Errorf("%s: %w", path, err)
		}
	}
	return nil
}
