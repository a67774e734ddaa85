package umpire

// A SandboxMode says what a command may change. The zero value is as strict as
// SandboxReadOnly where it is an obligation, and says nothing elsewhere.
type SandboxMode string

// The sandbox modes, the strictest first.
const (
	SandboxReadOnly       SandboxMode = "read-only"
	SandboxWorkspaceWrite SandboxMode = "workspace-write" // its workspace, and a /tmp of its own
	SandboxFullAccess     SandboxMode = "full-access"     // no sandbox
)

// Tighter reports whether m allows less than n.
func (m SandboxMode) Tighter(n SandboxMode) bool { return m.rank() < n.rank() }

func (m SandboxMode) rank() int {
	switch m {
	case SandboxReadOnly:
		return 0
	case SandboxWorkspaceWrite:
		return 1
	case SandboxFullAccess:
		return 2
	}
	return 0
}

// A SandboxLevel is how much of the sandbox a machine can give.
type SandboxLevel string

// The sandbox levels.
const (
	SandboxNone   SandboxLevel = "none"
	SandboxWeaker SandboxLevel = "weaker" // some of its layers: see docs/sandbox.md
	SandboxFull   SandboxLevel = "full"
)

// A Confinement is what a runner says of the sandbox in which it would run calls.
type Confinement struct {
	// Level is what its machine can do, and Lacks why that is not everything.
	Level SandboxLevel `json:"level"`
	Lacks string       `json:"lacks,omitempty"`
	// Mode is the loosest mode that it asks for; "" is the configured one. One that is
	// looser than that needs Loosen, which takes a person's credential.
	Mode   SandboxMode `json:"mode,omitempty"`
	Loosen bool        `json:"loosen,omitempty"`
	// Trials says that the runner tries calls whose decision says [TrialFirst]. Where it does
	// not, a person is asked about them.
	Trials bool `json:"trials,omitempty"`
}
