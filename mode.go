package umpire

import (
	"slices"
	"strings"
)

// A Mode decides about an access that no rule, grant or built-in knowledge settles. The zero
// value is ModeReject, which never asks and permits only accesses that are known to be safe or
// that a rule allows.
type Mode uint8

// The six modes.
const (
	ModeReject  Mode = iota // never asks; denies instead of asking
	ModeDefault             // safe calls run, the rest asks
	ModeAuto                // remembered answers decide, known danger is denied, the rest asks
	ModeAsk                 // everything asks, reads too, unless a rule allows it
	ModePlan                // only reads run; the rest is denied and recorded as planned
	ModeBypass              // nothing asks; deny rules, critical risk and control files still hold
)

var modeNames = [...]string{
	ModeReject: "reject", ModeDefault: "default", ModeAuto: "auto",
	ModeAsk: "ask", ModePlan: "plan", ModeBypass: "bypass",
}

// modeAliases are the names that other agents use for the same modes. acceptEdits has no exact
// counterpart: it allows edits, and the default mode is the closest one that does not allow
// more.
var modeAliases = [...]struct {
	name string
	mode Mode
}{
	{"acceptEdits", ModeDefault},
	{"dontAsk", ModeReject},
	{"bypassPermissions", ModeBypass},
}

// String returns the mode's name; a value out of range is "reject".
func (m Mode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return modeNames[ModeReject]
}

// MarshalText writes the mode's name.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads a mode's name, or another agent's name for it (acceptEdits, dontAsk,
// bypassPermissions).
func (m *Mode) UnmarshalText(text []byte) error {
	for i, name := range modeNames {
		if string(text) == name {
			*m = Mode(i)
			return nil
		}
	}
	for _, alias := range modeAliases {
		if string(text) == alias.name {
			*m = alias.mode
			return nil
		}
	}
	names := slices.Sorted(slices.Values(modeNames[:]))
	return Errorf("mode %q: want one of %s", text, strings.Join(names, ", "))
}

// tighter lists, for each mode, the modes that never allow more.
var tighter = [...][]Mode{
	ModeReject:  {ModeReject},
	ModeDefault: {ModeDefault, ModeAsk, ModeReject, ModePlan},
	ModeAuto:    {ModeAuto, ModeReject, ModePlan},
	ModeAsk:     {ModeAsk},
	ModePlan:    {ModePlan},
	ModeBypass:  {ModeBypass, ModeDefault, ModeAuto, ModeAsk, ModeReject, ModePlan},
}

// Tightens reports whether m allows nothing that from would not allow. A mode tightens itself;
// an unknown mode tightens nothing.
func (m Mode) Tightens(from Mode) bool {
	return int(from) < len(tighter) && slices.Contains(tighter[from], m)
}
