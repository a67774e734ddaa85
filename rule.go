package umpire

import (
	"time"
)

// A Source is the origin of a rule.
type Source uint8

// The sources. The zero value is SourceUnknown; a rule without a source can never allow
// anything.
const (
	SourceUnknown Source = iota
	SourceBuiltin        // part of umpire
	SourceManaged        // the machine's administrator
	SourceProject        // a file in the project
	SourceUser           // the user's own file; shown as "global"
	SourceSession        // one session's grants
	SourceFlag           // the command line
)

var sourceNames = [...]string{
	SourceUnknown: "unknown", SourceBuiltin: "builtin", SourceManaged: "managed", SourceProject: "project",
	SourceUser: "global", SourceSession: "session", SourceFlag: "flag",
}

// String returns the source's name as files and commands show it.
func (s Source) String() string {
	if int(s) < len(sourceNames) {
		return sourceNames[s]
	}
	return sourceNames[SourceUnknown]
}

// MarshalText writes the source's name.
func (s Source) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a source's name and refuses any other word.
func (s *Source) UnmarshalText(text []byte) error {
	for i, name := range sourceNames {
		if string(text) == name {
			*s = Source(i)
			return nil
		}
	}
	return Errorf("unknown rule source %q", text)
}

// A Rule allows, asks about or denies the accesses that it matches. Its JSON form is that of
// the rule file; docs/rules.md describes every field. The zero value denies but matches
// nothing, because it names no tool.
type Rule struct {
	ID          RuleID    `json:"id,omitempty"`
	Action      Verdict   `json:"action"`
	Tool        string    `json:"tool"`
	Match       Match     `json:"match,omitzero"`
	Description string    `json:"description,omitempty"`
	Examples    Examples  `json:"examples,omitzero"`
	ExpiresAt   time.Time `json:"expires_at,omitzero"`
	Cap

	// The rule's origin, for explanations. Line counts from 1; 0 means unknown.
	Source Source `json:"-"`
	File   string `json:"-"`
	Line   int    `json:"-"`
	// Says is umpire's own description of a built-in rule and replaces Description.
	Says Phrase `json:"-"`
}

// Reason returns the rule's explanation: a person's description, word for word, or umpire's
// text for its own rules. It may be "".
func (r *Rule) Reason() Phrase {
	if r.Says != "" {
		return r.Says
	}
	return Verbatim(r.Description)
}

// A Match narrows a rule. All fields that are set must match; the zero value matches every use
// of the rule's tool.
type Match struct {
	// Command is one whole simple command. It matches exactly the same words, however they are
	// quoted.
	Command       string `json:"command,omitempty"`
	CommandPrefix string `json:"commandPrefix,omitempty"`
	PathGlob      string `json:"pathGlob,omitempty"`
	Domain        string `json:"domain,omitempty"`
}

// A Cap limits an allow rule beyond its match. The zero value sets no limit.
type Cap struct {
	// MaxConsequence is the worst consequence that the rule covers; Lost, the zero value, means
	// no limit.
	MaxConsequence Consequence `json:"max_consequence,omitzero"`
	// Options says which options beyond those of the match the rule covers.
	Options OptionLimit `json:"options,omitempty"`
}

// An OptionLimit says which options a rule for a command covers.
type OptionLimit string

// The limits.
const (
	OptionsAny OptionLimit = "" // any
	// OptionsShown covers the options of the match, and others that have no additional effect
	// according to the tables.
	OptionsShown OptionLimit = "shown"
)

// Examples are commands, paths or URLs that a rule must and must not match.
// They are checked when the rule is loaded.
type Examples struct {
	Match    []string `json:"match,omitempty"`
	NotMatch []string `json:"not_match,omitempty"`
}

// A RuleRef identifies a rule by its id and location.
type RuleRef struct {
	ID     RuleID `json:"id"`
	Source Source `json:"source"`
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
}

// Ref returns the rule's id and location.
func (r *Rule) Ref() RuleRef {
	return RuleRef{ID: r.ID, Source: r.Source, File: r.File, Line: r.Line}
}
