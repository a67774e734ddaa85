package sandbox

import "github.com/umpirehq/umpire"

// An Ability is the level of sandboxing that a machine supports.
type Ability struct {
	Level umpire.SandboxLevel `json:"level"`
	// Lacks is the reason why the level is not full.
	Lacks string `json:"lacks,omitempty"`
}

// Whole reports whether the level is full.
func (a Ability) Whole() bool { return a.Level == umpire.SandboxFull }
