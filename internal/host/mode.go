package host

// A Permission tells how much a host runs without asking its user, by Claude Code's names for its
// modes. The zero value is an unknown mode, which is treated as the strictest.
type Permission uint8

// The permission modes.
const (
	Unknown     Permission = iota
	Default                // asks about every edit and command except read-only ones
	AcceptEdits            // runs edits and file commands in the project
	Auto                   // a classifier decides which calls ask
	Bypass                 // runs nearly everything
	Plan                   // only reads, and writes its plan
	DontAsk                // denies what it would ask about
)

var permissionNames = [...]string{
	Unknown: "unknown", Default: "default", AcceptEdits: "acceptEdits", Auto: "auto",
	Bypass: "bypassPermissions", Plan: "plan", DontAsk: "dontAsk",
}

// String returns the mode as Claude Code spells it; "unknown" out of range.
func (p Permission) String() string {
	if int(p) < len(permissionNames) {
		return permissionNames[p]
	}
	return permissionNames[Unknown]
}

// A Mode describes how the host currently treats calls. The zero value is the strictest.
type Mode struct {
	Permission Permission
	Silence    Silence
	// Hold sends questions to umpire's own inbox and not to the host's dialog.
	Hold bool
	// AsksAgain means that the host's dialog still asks about a call after a person has approved it
	// in umpire's inbox.
	AsksAgain bool
	// Gate is set if a gate is running, which can hold a question.
	Gate bool
	// Own are the host's own folders on this machine, as resolved by [Found] or by the caller.
	Own []Folder
}
