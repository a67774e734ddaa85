package sandbox

// A Level is how much of the sandbox a machine can give.
type Level string

// The levels. The zero value is none.
const (
	None   Level = "none"
	Weaker Level = "weaker" // some of the layers: what they miss is in docs/sandbox.md
	Full   Level = "full"
)

// An Ability is what a machine can do.
type Ability struct {
	Level Level `json:"level"`
	// Lacks says why it is not full.
	Lacks string `json:"lacks,omitempty"`
}

// Whole reports whether nothing is missing.
func (a Ability) Whole() bool { return a.Level == Full }
