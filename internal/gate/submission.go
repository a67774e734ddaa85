package gate

import (
	"encoding/json"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/userhook"
	"github.com/umpirehq/umpire/internal/store"
)

// A submission is decided and ready to be stored.
type submission struct {
	*umpire.Submission

	conditions *conditions
	calls      []*judged
	message    store.Sealed
	asking     int // the number of calls that ask
}

// A judged is one call of a submission with everything determined before it is stored.
type judged struct {
	call     umpire.Call
	hash     string
	input    store.Sealed
	extra    json.RawMessage
	decision umpire.Decision
	effect   umpire.Effect
	state    umpire.CallState // its first state in the batch
	denied   *umpire.Standing // a person denied an identical call in this turn
	unasked  bool             // would ask, but the session is unattended
	question *question        // the question for a person
	took     time.Duration    // to decide it
	hooks    []userhook.Ran   // hooks that ran for the call
	alone    umpire.Decision  // without the hooks' verdicts
	before   json.RawMessage  // the current files that a planned call would change
	trial    *triedCall       // the trial's effects, if the question is about them
	planned  []umpire.Planned // the plan that a call leaving plan mode presents
}

// A triedCall is a call with its trial's effects, and the decision on them.
type triedCall struct {
	umpire.Trial

	decision umpire.Decision
}

// A question asks a person about one call, and is ready to be stored.
type question struct {
	row  store.AskRow
	card umpire.Pending
}
