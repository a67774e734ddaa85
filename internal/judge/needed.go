package judge

import (
	"slices"

	"github.com/umpirehq/umpire"
)

// NeededEffects returns the effects of a trial that count for keeping them. A command that ended with
// exit code 0 did its work, so its refused connections ask no question. Records and cards keep them.
func NeededEffects(e *umpire.TrialEffects, exit int) *umpire.TrialEffects {
	if exit != 0 {
		return e
	}
	needed := *e
	needed.Refused = slices.DeleteFunc(slices.Clone(e.Refused), func(a umpire.TrialAttempt) bool {
		return a.Kind == umpire.AttemptNetwork
	})
	return &needed
}
