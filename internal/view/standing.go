package view

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// answered maps choices to their past tense.
var answered = map[umpire.Choice]string{
	umpire.Approve: "approved", umpire.Refuse: "denied", umpire.Cancel: "cancelled", umpire.Try: "trying",
}

// Answered returns the past tense of a choice, in English.
func Answered(c umpire.Choice) string { return cmp.Or(answered[c], string(c)) }

// StandingOf reads an answer from its event.
func StandingOf(e *umpire.Event) umpire.Standing {
	s := umpire.Standing{
		Request: e.Request, Choice: umpire.Approve, Reason: e.Reason, Code: e.Code, Actor: e.Actor, At: e.At,
	}
	if e.Scope != nil {
		s.Scope = *e.Scope
	}
	switch {
	case e.Kind == umpire.EventPermissionApproved:
	case e.Code == umpire.CodeCancelled:
		s.Choice = umpire.Cancel
	default:
		s.Choice = umpire.Refuse
	}
	return s
}

// DescribeStanding describes a standing answer.
func DescribeStanding(s umpire.Standing, text *catalogue.Language) string {
	said := text.Of(Answered(s.Choice))
	if s.Choice == umpire.Approve {
		said = Bracketed(said, text.Of(s.Scope.String()))
	}
	said = Joined(text.Of("already resolved"), ": ", said)
	if s.Actor != "" {
		said += " " + fmt.Sprintf(text.Of("by %s"), Visible(s.Actor))
	}
	if !s.At.IsZero() {
		said += " " + fmt.Sprintf(text.Of("at %s"), s.At.Local().Format("2006-01-02 15:04:05"))
	}
	if s.Reason != "" {
		said = Joined(said, ": ", Visible(text.Reason(s.Reason)))
	}
	return said
}

// ChangesPending reports whether an event adds or removes a question.
func ChangesPending(kind umpire.EventKind) bool {
	return slices.Contains([]umpire.EventKind{
		umpire.EventPermissionAsked, umpire.EventPermissionApproved, umpire.EventPermissionRejected,
		umpire.EventBatchCancelled, umpire.EventCallIndeterminate, umpire.EventCallFinished, umpire.EventSessionEnded,
	}, kind)
}
