package view

import (
	"cmp"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// EventDetail lists the non-empty fields of an event, one per line: the request, the
// rule or person that settled it, and how far the answer reaches. It is safe to show and
// does not depend on the event's kind.
func EventDetail(e *umpire.Event, text *catalogue.Language) []string {
	var lines []string
	add := func(label, value string) {
		if value != "" {
			lines = append(lines, Joined(text.Word("field", label), ": ", Visible(value)))
		}
	}
	add("permission", text.Word("state", string(e.State)))
	add("type", text.Word("type", string(e.Type)))
	add("risk", text.Word("of risk", e.Risk))
	if e.Verdict != nil {
		add("verdict", text.Word("verdict", e.Verdict.String()))
	}
	if e.Blocked != nil {
		add("blocked", cmp.Or(text.Reason(e.Blocked.Detail), text.Word("code", string(e.Blocked.Code))))
	}
	if e.Blocked == nil || e.Reason != e.Blocked.Detail {
		add("reason", text.Reason(e.Reason))
	}
	add("rule", string(e.Rule))
	if e.Scope != nil {
		add("scope", text.Word("scope", e.Scope.String()))
	}
	add("actor", e.Actor)
	add("tool", e.Tool)
	for i := range e.Accesses {
		a := &e.Accesses[i]
		add("access", strings.Join(slices.DeleteFunc([]string{
			text.Word("verdict", a.Verdict.String()), text.Word("of risk", a.Risk.String()),
			AccessText(a, text), text.Reason(a.Reason),
		}, func(s string) bool { return s == "" }), "  "))
	}
	add("request", string(e.Request))
	add("call", string(e.Call))
	add("batch", string(e.Batch))
	add("session", string(e.Session))
	add("agent", e.Agent)
	return lines
}
