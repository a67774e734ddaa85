package policy

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/rulefile/wildcard"
)

// Limits on one rule. They keep a rule file from making decisions slow.
const (
	maxToolLen     = 200
	maxPrefixLen   = 4096
	maxPrefixWords = 64
	maxDomainLen   = 253
)

// Validate returns an error for a malformed rule. It looks at the rule alone, so a rule that is
// valid here is valid everywhere. The caller must not let a rule with an error allow anything.
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
		return wildcard.Validate(r.Match.PathGlob)
	}
	if r.Match.Domain != "" {
		return validDomain(r.Match.Domain)
	}
	return nil
}

func validTool(tool string) error {
	isPlain := func(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }
	switch {
	case tool == "":
		return errors.New("tool is missing")
	case len(tool) <= maxToolLen && strings.TrimFunc(tool, isPlain) == "":
		return nil
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

// validMatch rejects matches that could never apply, because a deny rule that never matches
// gives a false sense of protection.
func validMatch(tool string, m umpire.Match) error {
	set := 0
	for _, text := range []string{m.Command, m.CommandPrefix, m.PathGlob, m.Domain} {
		if text != "" {
			set++
		}
	}
	switch {
	case set > 1 && m.Domain != "":
		return errors.New("match has a domain and other fields; write one rule for each")
	case m.Command != "" && m.CommandPrefix != "":
		return errors.New("match has a command and a commandPrefix; one of them is enough")
	case m.Command != "" && tool != "Bash":
		return umpire.Errorf("command cannot be used with tool %q; use Bash", tool)
	case m.CommandPrefix != "" && !takesCommand(tool):
		return umpire.Errorf("commandPrefix cannot be used with tool %q; use Bash", tool)
	case m.PathGlob != "" && !takesPath(tool) && m.Command+m.CommandPrefix == "":
		return umpire.Errorf("pathGlob does not fit tool %q; use Read or Edit, which cover every command's files", tool)
	case m.Domain != "" && !takesDomain(tool):
		return umpire.Errorf("domain does not fit tool %q; use WebFetch, which covers every command's hosts", tool)
	}
	return nil
}

// validCap rejects a cap that would mean nothing. A cap weakens a rule, and deny and ask rules
// must not be weakened.
func validCap(r *umpire.Rule) error {
	switch {
	case r.Cap == umpire.Cap{}:
		return nil
	case r.Action != umpire.Allow:
		return errors.New("max_consequence and options can be used only with allow rules")
	case r.MaxConsequence > umpire.Harmless:
		return errors.New("max_consequence: want none, reversible, outward or lost")
	case r.Options != umpire.OptionsAny && r.Options != umpire.OptionsShown:
		return umpire.Errorf("options %q: want \"shown\"", r.Options)
	case r.Options != umpire.OptionsAny && r.Match.Command+r.Match.CommandPrefix == "":
		return errors.New("options can be used only with a command")
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
	words, err := countWords(text)
	switch {
	case err != nil:
		return umpire.Errorf("%s %q: %w", key, text, err)
	case words == 0:
		return umpire.Errorf("%s is blank", key)
	case words > maxPrefixWords:
		return umpire.Errorf("%s has more than %d words", key, maxPrefixWords)
	}
	return nil
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
