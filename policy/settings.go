package policy

import (
	"time"

	"github.com/umpirehq/umpire"
)

// Settings are the part of a configuration that concerns decisions. They pass unchanged from
// the file to the decision. The zero value is the strictest: it rejects calls that are not
// known to be safe.
type Settings struct {
	Mode umpire.Mode
	// WarnOnly allows and records calls that would ask or be denied. Calls that are critical,
	// forbidden or malformed stay denied.
	WarnOnly bool
	// AllowMedium lets medium risk run like safe and low.
	AllowMedium bool
	// DenyExternal denies paths outside the project instead of asking.
	DenyExternal bool
	Precedence   Precedence
	// RulesOff are the ids of disabled built-in rules. Only those of Switchable count.
	RulesOff []umpire.RuleID
	// AddDirs count as inside the project.
	AddDirs []string
	// Autonomy are the person's standing answers.
	Autonomy Autonomy
	// Destinations are hosts that commands may reach as far as Autonomy.Network allows.
	Destinations []string
	// Fetchers are programs whose servers are among the destinations. A trial leads them there.
	Fetchers []string
	// Sandbox is the configured sandbox, regardless of the machine's support.
	Sandbox Sandbox
	// Hook configures how a host's hook answers.
	Hook HookSettings
}

// Observes reports whether hooks answer without an opinion, failures included, and only record the decisions.
func (s *Settings) Observes() bool { return s.WarnOnly || s.Hook.Observe }

// HookSettings say when and where the hook of a host answers.
type HookSettings struct {
	// Deadline is the maximum time for a hook to answer; 0 leaves it to the host.
	Deadline time.Duration
	// WhenAsked is the place for questions while a gate runs.
	WhenAsked WhenAsked
	// NeverRewrite leaves the command lines of hosts unchanged.
	NeverRewrite bool
	// NoTurnLine hides the line about kept changes at the end of a turn.
	NoTurnLine bool
	// Observe has hooks answer without an opinion. A person sets it, never a project.
	Observe bool
}

// WhenAsked is the place for questions while a gate runs, as named in the configuration. The
// zero value holds them in umpire's inbox.
type WhenAsked string

// The places.
const (
	// AskedAuto is the inbox if one is open or the agent has no terminal, else the agent's own
	// dialog.
	AskedAuto   WhenAsked = "auto"
	AskedHold   WhenAsked = "hold"   // umpire's inbox, even if it is closed
	AskedNative WhenAsked = "native" // the agent's own dialog
)
