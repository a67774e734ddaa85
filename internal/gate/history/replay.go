package history

import (
	"cmp"
	"slices"

	"github.com/umpirehq/umpire"
)

// An Outcome is the result of a decision, strictest first. The zero value refuses.
type Outcome uint8

// The outcomes.
const (
	Refused Outcome = iota // the call is denied
	Asked                  // a person is asked
	Tried                  // a trial answers first
	Ran                    // the call runs
)

var outcomeNames = [...]string{Refused: "deny", Asked: "ask", Tried: "try", Ran: "allow"}

// String returns the outcome as one word; a value out of range is "deny".
func (o Outcome) String() string {
	if int(o) < len(outcomeNames) {
		return outcomeNames[o]
	}
	return outcomeNames[Refused]
}

// MarshalText writes the outcome as one word.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// OutcomeOf returns the outcome of a decision.
func OutcomeOf(d *umpire.Decision) Outcome {
	switch d.Verdict {
	case umpire.Allow:
		return Ran
	case umpire.Ask:
		if d.Trial == umpire.TrialFirst {
			return Tried
		}
		return Asked
	case umpire.Deny:
	}
	return Refused
}

// A Change is a call whose outcome a change of the policy alters.
type Change struct {
	Session umpire.SessionID `json:"session_id,omitempty"`
	Call    umpire.CallID    `json:"call_id,omitempty"`
	Root    string           `json:"project_root"`
	Tool    string           `json:"tool"`
	Subject string           `json:"subject"` // the command, or the path or host of another tool
	Times   int              `json:"times"`
	Before  Outcome          `json:"before"`
	After   Outcome          `json:"after"`
	// Consequence is the worst consequence of the call.
	Consequence umpire.Consequence `json:"consequence"`
	Headline    string             `json:"headline"`
}

// Opens reports whether the change permits more of the call than before.
func (c *Change) Opens() bool { return c.After > c.Before }

// kind orders changes: refusals that open, questions that go away, and calls that are held back.
func (c *Change) kind() int {
	switch {
	case c.Opens() && c.Before == Refused:
		return 0
	case c.Opens():
		return 1
	}
	return 2
}

// A Comparison counts the outcomes of calls under two policies. The zero value has no calls.
type Comparison struct {
	Calls    int `json:"calls"`
	Distinct int `json:"distinct_calls"`
	// Before and After are the questions under each policy.
	Before  int      `json:"questions_before"`
	After   int      `json:"questions_after"`
	Saved   int      `json:"questions_saved"`
	Changes []Change `json:"changes"` // worst first, see Sort
}

// Add adds calls that are alike. The comparison keeps them if their outcome changes.
func (c *Comparison) Add(calls Change) {
	c.Calls += calls.Times
	c.Distinct++
	if calls.Before == Asked {
		c.Before += calls.Times
	}
	if calls.After == Asked {
		c.After += calls.Times
	}
	c.Saved = c.Before - c.After
	if calls.Before != calls.After {
		c.Changes = append(c.Changes, calls)
	}
}

// Sort orders the changes: refusals that would open, questions that would go away, and calls that would be held back;
// in each of them the worst consequence first, and then the most frequent call.
func (c *Comparison) Sort() {
	slices.SortStableFunc(c.Changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.kind(), b.kind()), cmp.Compare(a.Consequence, b.Consequence),
			cmp.Compare(b.Times, a.Times), cmp.Compare(a.Subject, b.Subject))
	})
}

// Split returns the sorted changes in their three groups.
func (c *Comparison) Split() (refusals, questions, held []Change) {
	groups := [3][]Change{}
	for i := range c.Changes {
		kind := c.Changes[i].kind()
		groups[kind] = append(groups[kind], c.Changes[i])
	}
	return groups[0], groups[1], groups[2]
}

// Opened returns the number of calls of which the change permits more than before.
func (c *Comparison) Opened() int {
	n := 0
	for i := range c.Changes {
		if c.Changes[i].Opens() {
			n += c.Changes[i].Times
		}
	}
	return n
}
