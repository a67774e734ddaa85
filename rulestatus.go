package umpire

// A RuleStatus lists the rule files of a project and their state.
type RuleStatus struct {
	Files []RuleFile `json:"files"`
	// Cautious says that a deny or ask rule may be missing. Every call then needs approval.
	Cautious bool `json:"cautious"`
	// Revision changes whenever the rules in force change.
	Revision string `json:"revision"`
}

// A RuleFile is one file that may contain rules.
type RuleFile struct {
	Source   Source        `json:"source"`
	Path     string        `json:"path"`
	Format   string        `json:"format"`
	Health   string        `json:"health"`
	Trusted  *bool         `json:"trusted,omitempty"` // for a project's file whose rules are known
	Rules    int           `json:"rules"`
	Asleep   int           `json:"asleep"`
	Problems []RuleProblem `json:"problems"`
}

// A RuleProblem is one problem in a file; line and column count from 1.
type RuleProblem struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Text   string `json:"text"`
}
