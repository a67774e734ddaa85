package sandbox

import "github.com/umpirehq/umpire"

// An Ability is what a machine can do.
type Ability struct {
	Level umpire.SandboxLevel `json:"level"`
	// Lacks says why it is not full.
	Lacks string `json:"lacks,omitempty"`
}

// Whole reports whether nothing is missing.
func (a Ability) Whole() bool { return a.Level == umpire.SandboxFull }
