package rulefile

import (
	"errors"
	"strings"

	"github.com/umpirehq/umpire"
)

// Other tools write commands and paths as patterns that a rule here can not
// always repeat. An allow rule that can not be repeated exactly is an error; a
// deny or ask rule becomes one that reaches at least as far.

// commandWildcards are the characters that make a command a pattern.
const commandWildcards = "*?["

var errPattern = errors.New("allow takes a command prefix; other patterns cannot be kept exactly")

// admitCommand adds a rule for a command pattern: "X", "X *" and "X:*" match the
// commands that begin with the words X, and "*" matches every command.
func (r *reader) admitCommand(e entry, pattern string) {
	words := strings.TrimSpace(pattern)
	if rest, ok := strings.CutSuffix(words, ":*"); ok {
		words = strings.TrimSpace(rest)
	} else if rest, ok := strings.CutSuffix(words, " *"); ok {
		words = strings.TrimSpace(rest)
	} else if words == "*" {
		words = ""
	}
	e.rule.Match = umpire.Match{CommandPrefix: words}
	wildcard := strings.IndexAny(words, commandWildcards)
	switch {
	case words == "" && strings.Trim(pattern, " *:") == "" && !strings.Contains(pattern, "*"):
		e.failIf(false, errors.New("the command is empty"))
		r.admit(e)
	case wildcard < 0:
		r.admit(e)
	case e.rule.Action == umpire.Allow:
		e.failIf(false, umpire.Errorf("command %q: %w", pattern, errPattern))
		r.admit(e)
	default:
		r.admitWider(e, words, wildcard)
	}
}

// admitWider adds a deny or ask rule for a pattern with a wildcard inside. The text before
// the wildcard is matched literally. If the wildcard continues a word, all commands that
// begin with the words before that one ask.
func (r *reader) admitWider(e entry, pattern string, wildcard int) {
	literal := pattern[:wildcard]
	whole := strings.TrimSpace(literal)
	if whole == "" {
		e.failIf(false, umpire.Errorf("command %q begins with a wildcard", pattern))
		r.admit(e)
		return
	}
	e.rule.Match.CommandPrefix = whole
	r.admit(e)
	if strings.HasSuffix(literal, " ") {
		return
	}
	e.rule.ID, e.rule.Action = "", umpire.Ask
	if i := strings.LastIndex(whole, " "); i >= 0 {
		e.rule.Match.CommandPrefix = strings.TrimSpace(whole[:i])
		r.admit(e)
		return
	}
	e.failIf(false, umpire.Errorf("command %q matches parts of a program's name", pattern))
	r.admit(e)
}

// admitPath adds a rule for a path pattern. A restricting pattern also covers everything
// below its path, which may be a folder; patterns without a slash do so anyway.
func (r *reader) admitPath(e entry, pattern string) {
	pattern = strings.TrimPrefix(pattern, "./")
	if folder, ok := strings.CutSuffix(pattern, "/"); ok && folder != "" {
		pattern = folder + "/**"
	}
	e.rule.Match = umpire.Match{PathGlob: pattern}
	if pattern == "" {
		e.failIf(false, errors.New("the path is empty"))
	}
	r.admit(e)
	whole := strings.HasSuffix(pattern, "**") || !strings.Contains(pattern, "/")
	if e.err != nil || e.rule.Action == umpire.Allow || whole {
		return
	}
	e.rule.ID, e.rule.Match.PathGlob = "", pattern+"/**"
	r.admit(e)
}
