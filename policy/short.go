package policy

import (
	"errors"
	"strings"

	"github.com/umpirehq/umpire"
)

// The short form of a rule is TOOL or TOOL(MATCH). The match of a Bash rule is a command prefix
// with a trailing ":*", or "=" and one whole command. For WebFetch it is "domain:HOST", and for
// any other tool a path. A key in front overrides this.
const (
	keyCommand = "command:"
	keyPath    = "path:"
	keyDomain  = "domain:"
	anyWords   = ":*"
	wholeLine  = "="
)

// ParseShort parses the short form of a rule. It sets only Tool and Match, so the returned rule
// denies until the caller sets an action. A rule that Validate rejects is an error.
func ParseShort(s string) (umpire.Rule, error) {
	tool, arg, ok := cutShort(strings.TrimSpace(s))
	if !ok {
		return umpire.Rule{}, umpire.Errorf("rule %q: want TOOL or TOOL(MATCH)", s)
	}
	r := umpire.Rule{Tool: tool}
	if arg != "" {
		match, err := parseMatch(tool, arg)
		if err != nil {
			return umpire.Rule{}, umpire.Errorf("rule %q: %w", s, err)
		}
		r.Match = match
	}
	if err := Validate(r); err != nil {
		return umpire.Rule{}, umpire.Errorf("rule %q: %w", s, err)
	}
	return r, nil
}

// cutShort splits TOOL(MATCH). A tool alone has no match; () is an error because its meaning
// would be unclear.
func cutShort(s string) (tool, arg string, ok bool) {
	tool, rest, found := strings.Cut(s, "(")
	if !found {
		return tool, "", tool != ""
	}
	arg, closed := strings.CutSuffix(rest, ")")
	return tool, arg, closed && tool != "" && arg != ""
}

func parseMatch(tool, arg string) (umpire.Match, error) {
	if text, ok := strings.CutPrefix(arg, keyDomain); ok {
		return umpire.Match{Domain: text}, needText(text)
	}
	if text, ok := strings.CutPrefix(arg, keyPath); ok {
		return umpire.Match{PathGlob: text}, needText(text)
	}
	if text, ok := strings.CutPrefix(arg, keyCommand); ok {
		text = strings.TrimSuffix(text, anyWords)
		return umpire.Match{CommandPrefix: text}, needText(text)
	}
	if text, ok := strings.CutPrefix(arg, wholeLine); ok && tool == "Bash" {
		return umpire.Match{Command: text}, needText(text)
	}
	switch {
	case tool == "Bash" && (arg == "*" || arg == anyWords):
		return umpire.Match{}, nil
	case tool == "Bash":
		return umpire.Match{CommandPrefix: cutAnyWords(arg)}, nil
	case takesDomainOnly(tool):
		return umpire.Match{}, errors.New("want domain:HOST")
	}
	return umpire.Match{PathGlob: arg}, nil
}

// cutAnyWords removes the suffix for "and any words after": ":*", or " *" as other agents write
// it. A prefix always means that, so neither is needed.
func cutAnyWords(arg string) string {
	if prefix, ok := strings.CutSuffix(arg, anyWords); ok {
		return prefix
	}
	return strings.TrimSuffix(arg, " *")
}

func needText(text string) error {
	if text == "" {
		return errors.New("the key has no value")
	}
	return nil
}

// FormatShort formats the tool and the match of a rule in short form. For a rule that Validate
// accepts, ParseShort reads the same tool and match back.
func FormatShort(r umpire.Rule) string {
	switch m := r.Match; {
	case m.Command != "":
		return r.Tool + "(" + wholeLine + m.Command + ")"
	case m.CommandPrefix != "" && r.Tool == "Bash" && !hasKey(m.CommandPrefix):
		return r.Tool + "(" + m.CommandPrefix + anyWords + ")"
	case m.CommandPrefix != "":
		return r.Tool + "(" + keyCommand + m.CommandPrefix + anyWords + ")"
	case m.PathGlob != "" && r.Tool != "Bash" && !hasKey(m.PathGlob):
		return r.Tool + "(" + m.PathGlob + ")"
	case m.PathGlob != "":
		return r.Tool + "(" + keyPath + m.PathGlob + ")"
	case m.Domain != "":
		return r.Tool + "(" + keyDomain + m.Domain + ")"
	}
	return r.Tool
}

// hasKey reports whether ParseShort would read a match as one with a key in front.
func hasKey(text string) bool {
	return strings.HasPrefix(text, keyCommand) || strings.HasPrefix(text, keyPath) ||
		strings.HasPrefix(text, keyDomain) || strings.HasPrefix(text, wholeLine)
}
