package judge

import (
	"slices"

	"github.com/umpirehq/umpire"
)

// beyondWarning are the denials that hold even in warn-only mode: nothing lifts the first two,
// and a call that umpire cannot read must not run.
var beyondWarning = []umpire.ReasonCode{umpire.CodeCritical, umpire.CodeForbiddenPath, umpire.CodeInvalid}

// WarnOnly returns the decision in warn-only mode: it allows calls that would ask or be denied.
// The decision keeps its reasons and says what the answer would have been.
func WarnOnly(d umpire.Decision) umpire.Decision {
	stands := func(r umpire.Reason) bool {
		return r.Verdict == umpire.Deny && slices.Contains(beyondWarning, r.Code)
	}
	if d.Verdict == umpire.Allow || len(d.Reasons) == 0 || slices.ContainsFunc(d.Reasons, stands) {
		return d
	}
	d.Reason = umpire.Say("Not enforced, would have answered %s: %s", d.Verdict, d.Reason)
	d.Verdict, d.ReasonCode, d.Rule, d.Suggestions = umpire.Allow, umpire.CodeBypass, nil, nil
	return d
}
