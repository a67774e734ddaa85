package coverage

import (
	"cmp"
	"errors"
	"path/filepath"

	"github.com/umpirehq/umpire"
)

// CheckScope returns why a scope's approval cannot apply to a call, or nil. code is the
// reason for asking, and rules are the rules to be written. Views and the gate both use
// it, so a card never offers an answer that the gate would refuse.
func CheckScope(scope umpire.Scope, code umpire.ReasonCode, rules []umpire.Suggestion) error {
	if scope != umpire.ScopeOnce && code == umpire.CodeControlFile {
		return errors.New("a control file can be approved only once at a time")
	}
	for i := range rules {
		switch {
		case scope == umpire.ScopeProject && rules[i].Scope == umpire.ScopeGlobal:
			return errors.New("only a rule of your own can allow this; approve it globally")
		case scope == umpire.ScopeGlobal && FolderOutside(&rules[i]):
			return errors.New("a folder outside can be approved only for the session or the project")
		}
	}
	return nil
}

// FolderOutside reports whether a suggestion is about reading everything below a folder
// outside the project.
func FolderOutside(s *umpire.Suggestion) bool {
	return (s.Width == umpire.WidthFolder || s.Width == umpire.WidthParent) && filepath.IsAbs(s.Match.PathGlob)
}

// Suggested returns the suggestions of a width, by default the narrowest.
func Suggested(all []umpire.Suggestion, width umpire.Width) (set []umpire.Suggestion) {
	for _, s := range all {
		if s.Width == cmp.Or(width, umpire.WidthExact) {
			set = append(set, s)
		}
	}
	return set
}
