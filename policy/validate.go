package policy

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/wildcard"
)

// Limits on what one rule may say. They keep a rule file from making a decision
// slow: adjacent braces multiply, and stars within a segment backtrack.
const (
	maxToolLen       = 200
	maxPrefixLen     = 4096
	maxPrefixWords   = 64
	maxGlobLen       = 1024
	maxGlobBraces    = 8
	maxGlobWildcards = 32
	maxDomainLen     = 253
)

// Validate says what is wrong with a rule. It looks at the rule alone, so a
// rule that is valid here is valid everywhere. The caller must not let a rule
// with an error allow anything.
func Validate(r umpire.Rule) error {
	if r.Action > umpire.Allow {
		return errors.New("action is not allow, ask or deny")
	}
	if err := validTool(r.Tool); err != nil {
		return err
	}
	if err := validMatch(r.Tool, r.Match); err != nil {
		return err
	}
	if err := validCap(&r); err != nil {
		return err
	}
	if r.Match.Command != "" {
		if err := validWords("command", r.Match.Command); err != nil {
			return err
		}
	}
	if r.Match.CommandPrefix != "" {
		if err := validWords("commandPrefix", r.Match.CommandPrefix); err != nil {
			return err
		}
	}
	if r.Match.PathGlob != "" {
		return validGlob(r.Match.PathGlob)
	}
	if r.Match.Domain != "" {
		return validDomain(r.Match.Domain)
	}
	return nil
}

func validTool(tool string) error {
	switch {
	case tool == "":
		return errors.New("tool is missing")
	case len(tool) > maxToolLen:
		return umpire.Errorf("tool is longer than %d bytes", maxToolLen)
	case !isPrintable(tool) || strings.ContainsAny(tool, "(){}, \\/"):
		return umpire.Errorf("tool %q is not a tool's name", tool)
	case strings.Count(tool, "*") > 2 && tool != anyTool:
		return umpire.Errorf("tool %q has too many stars", tool)
	case !doublestar.ValidatePattern(tool):
		return umpire.Errorf("tool %q is not a valid pattern", tool)
	}
	return nil
}

// validMatch refuses matches that could never hold, since a deny rule that
// never matches looks like protection and is none.
func validMatch(tool string, m umpire.Match) error {
	set := 0
	for _, text := range []string{m.Command, m.CommandPrefix, m.PathGlob, m.Domain} {
		if text != "" {
			set++
		}
	}
	switch {
	case set > 1 && m.Domain != "":
		return errors.New("match has a domain and more; write one rule for each")
	case m.Command != "" && m.CommandPrefix != "":
		return errors.New("match has a command and a commandPrefix; one of them is enough")
	case m.Command != "" && tool != "Bash":
		return umpire.Errorf("command does not go with tool %q; use Bash", tool)
	case m.CommandPrefix != "" && !takesCommand(tool):
		return umpire.Errorf("commandPrefix does not go with tool %q; use Bash", tool)
	case m.PathGlob != "" && !takesPath(tool) && m.Command+m.CommandPrefix == "":
		return umpire.Errorf("pathGlob does not go with tool %q; use Read or Edit, they judge every command's files",
			tool)
	case m.Domain != "" && !takesDomain(tool):
		return umpire.Errorf("domain does not go with tool %q; use WebFetch, it judges every command's hosts", tool)
	}
	return nil
}

// validCap refuses a cap where it would mean nothing. It makes a rule weaker, which
// one that denies or asks must not be.
func validCap(r *umpire.Rule) error {
	switch {
	case r.Cap == umpire.Cap{}:
		return nil
	case r.Action != umpire.Allow:
		return errors.New("max_consequence and options go with allow rules only")
	case r.MaxConsequence > umpire.Harmless:
		return errors.New("max_consequence: want none, reversible, outward or lost")
	case r.Options != umpire.OptionsAny && r.Options != umpire.OptionsShown:
		return umpire.Errorf("options %q: want \"shown\"", r.Options)
	case r.Options != umpire.OptionsAny && r.Match.Command+r.Match.CommandPrefix == "":
		return errors.New("options go with a command only")
	}
	return nil
}

func validWords(key, text string) error {
	if len(text) > maxPrefixLen {
		return umpire.Errorf("%s is longer than %d bytes", key, maxPrefixLen)
	}
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return umpire.Errorf("%s is not text", key)
	}
	words, err := SplitPrefix(text)
	switch {
	case err != nil:
		return umpire.Errorf("%s %q: %w", key, text, err)
	case len(words) == 0:
		return umpire.Errorf("%s is blank", key)
	case len(words) > maxPrefixWords:
		return umpire.Errorf("%s has more than %d words", key, maxPrefixWords)
	}
	return nil
}

func validGlob(glob string) error {
	switch {
	case len(glob) > maxGlobLen:
		return umpire.Errorf("pathGlob is longer than %d bytes", maxGlobLen)
	case !utf8.ValidString(glob) || strings.ContainsRune(glob, 0):
		return errors.New("pathGlob is not text")
	case strings.Count(glob, "{") > maxGlobBraces:
		return umpire.Errorf("pathGlob %q has more than %d braces", glob, maxGlobBraces)
	case strings.Count(glob, "*") > maxGlobWildcards:
		return umpire.Errorf("pathGlob %q has more than %d stars", glob, maxGlobWildcards)
	case strings.HasPrefix(glob, "~") && glob != "~" && !strings.HasPrefix(glob, "~/"):
		return umpire.Errorf("pathGlob %q: only ~/ is known, not another user's home", glob)
	case !doublestar.ValidatePattern(glob):
		return umpire.Errorf("pathGlob %q is not a valid pattern", glob)
	}
	alternatives, err := wildcard.ExpandBraces(glob)
	if err != nil {
		return umpire.Errorf("pathGlob %q: %w", glob, err)
	}
	for _, text := range alternatives {
		if err := validSegments(text); err != nil {
			return umpire.Errorf("pathGlob %q: %w", glob, err)
		}
	}
	return nil
}

// validSegments checks what matching relies on: every segment is a valid
// pattern by itself, and none climbs out of the path.
func validSegments(text string) error {
	if text == "" {
		return errors.New("the braces leave an empty pattern, which matches nothing")
	}
	for segment := range strings.SplitSeq(text, "/") {
		switch {
		case segment == "..":
			return errors.New("a .. does not match anything, paths are resolved first")
		case segment != "**" && !doublestar.ValidatePattern(segment):
			return umpire.Errorf("segment %q is not a valid pattern", segment)
		case mixedRange(segment):
			return umpire.Errorf(
				"segment %q has a range from one case into another, which means nothing where case is ignored", segment,
			)
		}
	}
	return nil
}

// mixedRange reports whether a class holds a range that would be turned around
// by ignoring case, as in [Z-a]: it would match nothing.
func mixedRange(segment string) bool {
	runes := []rune(segment)
	class := false
	for i, r := range runes {
		switch {
		case r == '[':
			class = true
		case r == ']':
			class = false
		case class && r == '-' && i > 0 && i+1 < len(runes):
			lo, hi := runes[i-1], runes[i+1]
			if lo <= hi && foldRune(lo) > foldRune(hi) {
				return true
			}
		}
	}
	return false
}

func validDomain(domain string) error {
	host := strings.TrimPrefix(domain, "*.")
	switch {
	case domain == "*":
		return nil
	case len(domain) > maxDomainLen:
		return umpire.Errorf("domain is longer than %d bytes", maxDomainLen)
	case host == "" || !isPrintable(host) || strings.ContainsAny(host, "*/ @?#()"):
		return umpire.Errorf("domain %q is not a host or *.HOST", domain)
	}
	return nil
}

func isPrintable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}
