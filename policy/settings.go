package policy

import (
	"time"

	"github.com/umpirehq/umpire"
)

// Settings are what a configuration says about deciding calls. They travel as they are
// from the file to the decision. The zero value is the strictest: it rejects what is not
// known to be safe.
type Settings struct {
	Mode umpire.Mode
	// WarnOnly lets run what would ask or be denied, and records it. Calls that are
	// critical, forbidden or malformed stay denied.
	WarnOnly bool
	// AllowMedium lets medium risk run like safe and low.
	AllowMedium bool
	// DenyExternal denies paths outside the project instead of asking.
	DenyExternal bool
	Precedence   Precedence
	// RulesOff are the ids of built-in rules that do not hold. Only those of Switchable count.
	RulesOff []umpire.RuleID
	// AddDirs count as inside the project.
	AddDirs []string
	// Autonomy are the person's standing answers.
	Autonomy Autonomy
	// Destinations are hosts that commands may reach as far as Autonomy.Network allows.
	Destinations []string
	// Sandbox is the configured one, whatever the machine has.
	Sandbox Sandbox
	// Hook says how a host's hook answers with what was decided.
	Hook HookSettings
}

// HookSettings say when and where the hook of a host answers.
type HookSettings struct {
	// Deadline is when a hook answers at the latest; 0 leaves it to the host.
	Deadline time.Duration
	// WhenAsked is where a question goes while a gate runs.
	WhenAsked WhenAsked
	// NeverRewrite leaves the command lines of hosts as they are.
	NeverRewrite bool
}

// WhenAsked says where a question goes while a gate runs, in the word of the configuration.
// The zero value holds it.
type WhenAsked string

// The places.
const (
	// AskedAuto is the inbox where one is open or the agent has no terminal, else the
	// agent's own dialog.
	AskedAuto   WhenAsked = "auto"
	AskedHold   WhenAsked = "hold"   // umpire's inbox, whoever looks
	AskedNative WhenAsked = "native" // the agent's own dialog
)
