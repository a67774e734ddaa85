package umpire

// A SandboxMode limits what a command may change. As an obligation the zero value is as strict
// as SandboxReadOnly; elsewhere it means unspecified.
type SandboxMode string

// The sandbox modes, the strictest first.
const (
	SandboxReadOnly       SandboxMode = "read-only"
	SandboxWorkspaceWrite SandboxMode = "workspace-write" // its workspace, and a private /tmp
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

// A SandboxLevel says how much of the sandbox a machine supports.
type SandboxLevel string

// The sandbox levels.
const (
	SandboxNone   SandboxLevel = "none"
	SandboxWeaker SandboxLevel = "weaker" // some of its layers: see docs/sandbox.md
	SandboxFull   SandboxLevel = "full"
)

// A Confinement describes the sandbox in which a runner would run calls.
type Confinement struct {
	// Level is the level its machine supports; Lacks explains any missing part.
	Level SandboxLevel `json:"level"`
	Lacks string       `json:"lacks,omitempty"`
	// Mode is the loosest mode that the runner requests; "" is the configured one. A looser
	// mode than that needs Loosen, which requires a person's credential.
	Mode   SandboxMode `json:"mode,omitempty"`
	Loosen bool        `json:"loosen,omitempty"`
	// Trials says that the runner tries calls whose decision says [TrialFirst]. Otherwise the
	// gate asks a person about them.
	Trials bool `json:"trials,omitempty"`
}

// A NetworkAnswer is a person's standing answer about listed hosts. The zero value asks.
type NetworkAnswer uint8

// The answers, strictest first.
const (
	NetworkAsk    NetworkAnswer = iota // every call asks
	NetworkOnce                        // a host asks until it is approved once in the session
	NetworkListed                      // no call asks
)
