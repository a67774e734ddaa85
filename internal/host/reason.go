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

// denyText tells the model the reason, the object, and an alternative.
func denyText(e Event, d umpire.Decision) string {
	if d.ReasonCode == codeDenied {
		if reason := english(d.Reason); strings.HasPrefix(reason, toolDenied) {
			return view.Clip(view.Visible(reason), maxReason)
		}
		return ToolDenied(e.ToolName, e.Call.ID, english(d.Reason))
	}
	cause := cmp.Or(english(d.Reason), "Denied by umpire")
	return sentences(cause, subject(d), nextStep(d.ReasonCode))
}

// headlessText explains an Ask in an unattended session.
func headlessText(d umpire.Decision) string {
	cause := english(d.Reason)
	if !strings.HasPrefix(cause, nonInteractive) {
		cause = nonInteractive + ": " + cmp.Or(cause, "this call needs an approval")
	}
	return sentences(cause, subject(d), nextStep(umpire.CodeAutoDeny))
}

// unaskedText explains an Ask that the host cannot ask a person.
func unaskedText(d umpire.Decision) string {
	cause := cmp.Or(english(d.Reason), "This call needs an approval")
	return sentences(cause, subject(d), cmp.Or(lastingStep(d), approveStep))
}

// approveStep explains how to approve a call that only umpire can ask about.
const approveStep = "It needs the user's approval: ask the user to keep `umpire watch` open, then try again"

// askText is shown to the user next to the host's own prompt.
func askText(d umpire.Decision) string {
	cause := cmp.Or(english(d.Reason), "This call needs an approval")
	if d.Warning {
		cause = "Dangerous: " + cause
	}
	return sentences(cause, subject(d), lastingStep(d))
}

// lastingStep returns the shortest way to settle a question for good, or "" if no rule does. The
// rules of one width settle it together, so it names all rules of the first width.
func lastingStep(d umpire.Decision) string {
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

// sentences joins the parts of a reason, each made visible and shortened.
func sentences(cause, about, next string) string {
	var text strings.Builder
	text.WriteString(strings.TrimRight(view.Clip(view.Visible(cause), maxCause), " ."))
	for _, part := range []string{about, next} {
		if part != "" {
			text.WriteString(". " + strings.TrimRight(part, "."))
		}
	}
	return text.String() + "."
}

// subject names the access that settled the verdict, the riskiest one with the same
// verdict, and the rule.
func subject(d umpire.Decision) string {
	var parts []string
	settled := settling(d)
	if settled != nil {
		parts = append(parts, "Access: "+describe(settled, english(d.Reason)))
	}
	if worst := riskiest(d); worst != nil && worst != settled {
		parts = append(parts, "Riskiest: "+describe(worst, english(d.Reason)))
	}
	if d.Rule != nil {
		parts = append(parts, "Rule: "+describeRule(d.Rule))
	}
	return strings.Join(parts, ". ")
}

// settling returns the access that the verdict comes from: of those with the verdict, the first
// whose own reason is the decision's, else the riskiest. Later reasons about an access that is
// already settled do not count.
func settling(d umpire.Decision) *umpire.Access {
	seen := -1
	for _, r := range d.Reasons {
		if r.Access <= seen || r.Access >= len(d.Accesses) {
			continue
		}
		seen = r.Access
		a := &d.Accesses[r.Access]
		if a.Verdict == d.Verdict && r.Code == d.ReasonCode && r.Text == d.Reason && r.Code != umpire.CodeMode {
			return a
		}
	}
	return riskiest(d)
}

// riskiest returns the riskiest access with the verdict, or nil.
func riskiest(d umpire.Decision) *umpire.Access {
	var worst *umpire.Access
	for i := range d.Accesses {
		a := &d.Accesses[i]
		if a.Verdict == d.Verdict && (worst == nil || worse(a, worst)) {
			worst = a
		}
	}
	return worst
}

func worse(a, than *umpire.Access) bool {
	if a.Risk != than.Risk {
		return a.Risk.AtLeast(than.Risk)
	}
	return a.Consequence != than.Consequence && a.Consequence.AtLeast(than.Consequence)
}

// describe tells what an access does, and its risk: with the reason unless already given.
func describe(a *umpire.Access, said string) string {
	what := a.Target
	if a.Kind == umpire.KindExec && a.Program != "" {
		what = strings.Join(append([]string{a.Program}, a.Args...), " ")
	}
	text, why := a.Kind.String()+" "+quoted(what), english(a.Reason)
	switch {
	case why == "":
	case strings.Contains(said, why):
		text += " (" + a.Risk.String() + ")"
	default:
		text += " (" + a.Risk.String() + ": " + view.Brief(why, maxAccess) + ")"
	}
	return view.Clip(text, 2*maxAccess)
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
