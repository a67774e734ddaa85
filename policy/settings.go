package policy

import "github.com/umpirehq/umpire"

// Settings are what a configuration says about deciding calls. They travel as they are
// from the file to the decision. The zero value is the strictest: it rejects what is not
// known to be safe.
type Settings struct {
	Mode umpire.Mode
	// WarnOnly lets run what would ask or be denied, and records it. What is critical,
	// forbidden or malformed stays denied.
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
	// Sandbox is the configured one, whatever the machine has.
	Sandbox Sandbox
}
