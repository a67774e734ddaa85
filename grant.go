package umpire

import (
	"fmt"
	"time"
)

// A Scope says how far an approval reaches. The zero value is the narrowest.
type Scope uint8

// The scopes, narrowest first.
const (
	ScopeOnce    Scope = iota // this one call
	ScopeSession              // this session
	ScopeProject              // every session of this project
	ScopeGlobal               // every project of this user
)

var scopeNames = [...]string{ScopeOnce: "once", ScopeSession: "session", ScopeProject: "project", ScopeGlobal: "global"}

// String returns the scope's name; a value out of range is "once".
func (s Scope) String() string {
	if int(s) < len(scopeNames) {
		return scopeNames[s]
	}
	return scopeNames[ScopeOnce]
}

// MarshalText writes the scope's name.
func (s Scope) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a scope's name and refuses any other word.
func (s *Scope) UnmarshalText(text []byte) error {
	for i, name := range scopeNames {
		if string(text) == name {
			*s = Scope(i)
			return nil
		}
	}
	return fmt.Errorf("scope %q: want once, session, project or global", text)
}

// A Grant is a remembered approval. It covers a whole tool, or the exact
// command or path that was approved, never more. The zero value covers nothing.
type Grant struct {
	Scope Scope
	// Remembered marks an answer that auto mode gives again.
	Remembered bool
	Tool       string
	// Exact is the canonical form of what was approved; empty covers every use
	// of Tool. Rule is used instead when the approval was given for a pattern.
	Exact     string
	Match     Match
	ExpiresAt time.Time // the zero time never expires
}
