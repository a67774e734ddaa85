package config

import (
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/policy"
)

// Settings are the settings that apply in a project. They pass unchanged from the file
// to the decision. A new key needs a field here (or in policy.Settings if a hook without
// a gate uses it), a row in Keys, and a description. The zero value is the strictest.
type Settings struct {
	policy.Settings

	// Listed are the destinations as a person wrote them, groups included.
	Listed []string

	// Most is the administrator's upper limit on all sessions.
	Most Most
	// AlsoRead are rule files of other tools.
	AlsoRead []string
	// SandboxRequire decides what happens if the sandbox is not available.
	SandboxRequire Require
	SandboxShow    []string // files and folders of the home that a trial sees
	CrossProject   bool     // sessions of other projects may be continued without asking for it
	// PendingTimeout is how long a question waits, 0 for ever; MaxPending how many
	// may wait in one session, 0 for the gate's default.
	PendingTimeout time.Duration
	MaxPending     int
	// Remember is how long auto mode gives an answer again. After MaxDenialsInRow
	// refusals in a row, or MaxDenials in all, it asks; 0 never does.
	Remember        time.Duration
	MaxDenialsInRow int
	MaxDenials      int
	Profiles        map[string]policy.Profile
	// Hooks are the hooks in addition to those of the rule files.
	Hooks []rulefile.Hook
}

// A Most limits how loose sessions may be, however they were opened or switched. The
// zero value sets no limit.
type Most struct {
	Mode    *umpire.Mode
	Sandbox umpire.SandboxMode
}

// Permits reports whether a session may be in a mode. It always permits plan and reject,
// because they change nothing.
func (m *Most) Permits(mode umpire.Mode) bool {
	return m.Mode == nil || mode == umpire.ModePlan || mode == umpire.ModeReject || mode.Tightens(*m.Mode)
}

// PermitsSandbox reports whether commands may run in a mode of the sandbox.
func (m *Most) PermitsSandbox(mode umpire.SandboxMode) bool {
	return m.Sandbox == "" || !m.Sandbox.Tighter(mode)
}

// A Require decides what happens to commands if the sandbox is not available.
type Require uint8

// The values of Require, the tightest first. The zero value is the strictest.
const (
	RequireFull   Require = iota // they ask
	RequireWeaker                // accept some of its layers, or else ask
	RequireNone                  // they run
)

var requireNames = []string{RequireFull: "strict", RequireWeaker: "degraded-ok", RequireNone: "off"}

// String is the word of the configuration.
func (r Require) String() string {
	if int(r) < len(requireNames) {
		return requireNames[r]
	}
	return requireNames[RequireFull]
}
