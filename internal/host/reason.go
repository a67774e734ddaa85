package host

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/policy"
)

// Limits on the parts of a reason. Claude Code cuts strings at maxReason; a longer reason would
// lose its end, which suggests the next step.
const (
	maxReason = 10_000 // UTF-16 units of a whole reason
	maxAccess = 300    // of the access that it shows
	maxName   = 100    // of a name in an error
	// maxCause leaves room for the access, the rule and the next step.
	maxCause = maxReason - 5*maxAccess
)

// codeDenied is the reason code of a person's denial.
const codeDenied umpire.ReasonCode = "denied"

// nonInteractive begins every denial of a question that cannot be asked.
const nonInteractive = "non_interactive confirmation required"

// toolDenied begins every denial by a person.
const toolDenied = "[Tool Denied]"

// undecided begins every denial caused by umpire's own failure.
const undecided = "umpire could not decide, so the call is refused"

// english returns the English text of a phrase for a model, which reads no codes.
func english(said umpire.Phrase) string { return catalogue.English.Text(said) }

// problemText joins the meaning of a failure and its error.
func problemText(meaning string, problem error) string {
	if problem == nil {
		return meaning
	}
	return view.Clip(meaning+": "+view.Visible(problem.Error()), maxReason)
}

// ToolDenied returns the text for a model after a person denied a call. The wording is fixed;
// reason may be empty.
func ToolDenied(tool string, id umpire.CallID, reason string) string {
	head := fmt.Sprintf(`%s The user denied the "%s" tool call (ID: %s).`, toolDenied, view.Brief(tool, maxName),
		view.Brief(string(id), maxName))
	if strings.TrimSpace(reason) == "" {
		return head + " Please try a different approach or ask the user for guidance."
	}
	return head + " Reason: " + view.Clip(view.Visible(reason), maxCause) + ". Please adjust your approach."
}

// denyText names the consequence, the reason for the refusal, and an alternative.
func denyText(e *Event, d umpire.Decision) string {
	if d.ReasonCode == codeDenied {
		if reason := english(d.Reason); strings.HasPrefix(reason, toolDenied) {
			return view.Clip(view.Visible(reason), maxReason)
		}
		return ToolDenied(e.ToolName, e.Call.ID, english(d.Reason))
	}
	return e.explain(&d, nextStep(d.ReasonCode))
}

// headlessText explains an Ask in an unattended session.
func headlessText(e *Event, d umpire.Decision) string {
	if d.Reason == "" {
		d.Reason = "this call needs an approval"
	}
	if !d.Reason.Is(policy.NobodyConfirms) {
		d.Reason = umpire.Say(policy.NobodyConfirms, d.Reason)
	}
	return e.explain(&d, nextStep(umpire.CodeAutoDeny))
}

// unaskedText explains an Ask that the host cannot ask a person.
func unaskedText(e *Event, d umpire.Decision) string {
	return e.explain(&d, cmp.Or(e.lastingStep(d), approveStep))
}

// approveStep explains how to approve a call that only umpire can ask about.
const approveStep = "It needs the user's approval: ask the user to keep `umpire watch` open, then try again"

// askText is shown to the user next to the host's own prompt.
func askText(e *Event, d umpire.Decision) string { return e.explain(&d, e.lastingStep(d)) }

// explain says what a call would do, why it is not simply allowed, and what to do next. It begins
// with our name, because a host may have hooks of several programs, or with the fixed words about
// an absent person.
func (e *Event) explain(d *umpire.Decision, next string) string {
	said, why := view.Explain(d, e.folders, catalogue.English)
	if said == "" {
		said, why = cmp.Or(why, "this call needs an approval"), ""
	}
	begin, rule := "umpire: ", ""
	if d.Reason.Is(policy.NobodyConfirms) {
		begin, why = nonInteractive+": ", ""
		said = strings.TrimPrefix(said, begin)
	}
	if d.Rule != nil {
		rule = "Rule: " + describeRule(d.Rule)
	}
	return sentences(begin+said, view.Capitalized(why), rule, next)
}

// lastingStep returns the shortest way to settle a question for good, or "" if no rule does. The
// rules of one width settle it together, so it names all rules of the first width.
func (e *Event) lastingStep(d umpire.Decision) string {
	switch {
	case d.OutsideTask != "":
		return "It is outside the task that you approved. To widen it: umpire task draft --wider " + d.OutsideTask
	case d.RaiseTo != "" && !d.RaiseTries:
		return "To have such calls run: umpire autonomy " + d.RaiseTo
	case d.RaiseTo != "" && e.mayTry:
		return "To have such calls tried first: umpire autonomy " + d.RaiseTo
	}
	var adds []string
	for _, s := range d.Suggestions {
		if s.Width != d.Suggestions[0].Width {
			break
		}
		add, ok := addCommand(s)
		if !ok {
			return ""
		}
		adds = append(adds, add)
	}
	if len(adds) == 0 || len(adds) > maxAdds {
		return ""
	}
	return "To settle it for good: " + strings.Join(adds, " && ")
}

// maxAdds bounds the rules that a reason suggests; a person would not type more.
const maxAdds = 3

// addCommand returns the command that adds a suggested rule, or false if it cannot be typed as
// shown on one line.
func addCommand(s umpire.Suggestion) (string, bool) {
	short := policy.FormatShort(s.Rule())
	if short == "" || s.Action != umpire.Allow || s.Cap != (umpire.Cap{}) {
		return "", false
	}
	if strings.ContainsAny(short, "'\n\r") || view.Visible(short) != short || len(short) > maxAccess {
		return "", false
	}
	add := "umpire rules add allow '" + short + "'"
	if s.Scope == umpire.ScopeGlobal {
		add += " --scope global"
	}
	return add, true
}

// sentences joins the parts of a reason, each shortened. All of them are safe to show.
func sentences(parts ...string) string {
	var text strings.Builder
	for _, part := range parts {
		if part != "" {
			text.WriteString(strings.TrimRight(view.Clip(part, maxCause), " .") + ". ")
		}
	}
	return strings.TrimRight(text.String(), " ")
}

func describeRule(r *umpire.RuleRef) string {
	text := quoted(string(r.ID))
	if r.File == "" {
		return text + " (" + r.Source.String() + ")"
	}
	place := view.Brief(r.File, maxAccess)
	if r.Line > 0 {
		place += ":" + strconv.Itoa(r.Line)
	}
	return text + " in " + place
}

// quoted shortens after escaping, which can make text ten times as long.
func quoted(s string) string {
	escaped := strconv.Quote(view.Clip(s, maxAccess))
	return `"` + view.Clip(escaped[1:len(escaped)-1], maxAccess) + `"`
}

// nextStep suggests a useful step to the model after a denial. Without it, models tend to try the
// same thing in another spelling.
func nextStep(code umpire.ReasonCode) string {
	switch code {
	case umpire.CodeCritical, umpire.CodeForbiddenPath:
		return "No approval can lift this: do not try it in another form, tell the user instead"
	case umpire.CodePlan:
		return "In plan mode only reading is allowed: make this a step of the plan"
	case umpire.CodeExternalDirectory:
		return "Stay inside the project, or ask the user to add the directory"
	case umpire.CodeAutoDeny:
		return "Nobody can approve it in this session: go on without it, or name the rule that the user would " +
			"have to add"
	case umpire.CodeInvalid:
		return "Correct the input and call the tool again"
	case umpire.CodeControlFile:
		return "Leave this file alone: changing it is up to the user"
	case umpire.CodeUnparsed:
		return "Write the command in a plainer form, one step at a time"
	}
	return "Do not repeat the call unchanged: take a different approach, or ask the user"
}
