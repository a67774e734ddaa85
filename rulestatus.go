package umpire

// A RuleStatus says which rule files hold in a project, and how they are.
type RuleStatus struct {
	Files []RuleFile `json:"files"`
	// Cautious says that a deny or ask rule may be missing. Nothing is then allowed
	// without a question.
	Cautious bool `json:"cautious"`
	// Revision changes whenever the rules that hold change.
	Revision string `json:"revision"`
}

// A RuleFile is one place where rules may stand.
type RuleFile struct {
	Source   Source        `json:"source"`
	Path     string        `json:"path"`
	Format   string        `json:"format"`
	Health   string        `json:"health"`
	Trusted  *bool         `json:"trusted,omitempty"` // of a project's file whose rules are known
	Rules    int           `json:"rules"`
	Asleep   int           `json:"asleep"`
	Problems []RuleProblem `json:"problems"`
}

// A RuleProblem is one thing wrong in a file; line and column count from 1.
type RuleProblem struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Text   string `json:"text"`
}
