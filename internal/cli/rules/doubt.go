package rules

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/config/docedit"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/view"
	phrases "github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/policy"
	"github.com/umpirehq/umpire/shell"
)

// A handwritten rule may match more, less or something else than intended. A rule that
// is probably a mistake needs a confirmation before it is written.

// doubtRule returns why a rule is probably a mistake, or "".
func doubtRule(text *phrases.Language, r umpire.Rule) string {
	switch {
	case r.Action == umpire.Allow && policy.NamesEveryTool(r.Tool) && r.Match == (umpire.Match{}):
		return text.Of("this rule allows every tool")
	case !policy.NamesTool(r.Tool):
		said := fmt.Sprintf(text.Of("umpire knows no tool called %q"), r.Tool)
		if near := nearestTool(r.Tool); near != "" {
			said += fmt.Sprintf(text.Of("; did you mean %q?"), near)
		}
		return said
	}
	return ""
}

// nearestTool is the known tool whose name is almost the word, or "".
func nearestTool(word string) string {
	names := policy.ToolNames()
	for _, name := range names {
		if strings.EqualFold(name, word) {
			return name
		}
	}
	return docedit.Nearest(word, names)
}

// confirmRule asks a person to confirm a doubtful rule on the terminal. Without a
// terminal, --yes confirms it.
func confirmRule(ctx context.Context, a *app.App, doubt string, again []string) error {
	for i := range again {
		again[i] = shell.Quote(again[i])
	}
	refusal := app.Usage("umpire rules add "+strings.Join(again, " ")+" --yes", "%s; --yes adds it anyway", doubt)
	if !a.Terminal {
		return refusal
	}
	tty, err := a.OpenTerminal()
	if err != nil {
		return refusal
	}
	defer tty.Close()
	return a.Confirm(ctx, tty, view.Visible(doubt)+"\n", "yes")
}

// literalCall is the call that an allow rule is written for, if it names one: the words
// of its command, or the file of a path without wildcards.
func literalCall(r umpire.Rule, dir string) (call umpire.Call, subject string) {
	call = umpire.Call{Tool: r.Tool, Dir: dir}
	var field string
	switch {
	case strings.ContainsAny(r.Tool, "*?["):
		return call, ""
	case r.Match.CommandPrefix != "" && r.Match.PathGlob == "" && r.Tool == "Bash":
		field, subject = "command", r.Match.CommandPrefix
	case r.Match.Command != "" && r.Match.PathGlob == "":
		field, subject = "command", r.Match.Command
	case r.Match.PathGlob != "" && r.Match.CommandPrefix == "" && !strings.ContainsAny(r.Match.PathGlob, "*?[{\\"):
		field, subject = "file_path", r.Match.PathGlob
	default:
		return call, ""
	}
	input, err := json.Marshal(map[string]string{field: subject})
	if err != nil {
		return call, ""
	}
	call.Input = input
	return call, subject
}

// tryRule decides the call that an allow rule is for. It rejects a rule for a call that
// no rule can allow, and says if the call would still not run.
func tryRule(a *app.App, p *app.OpenedProject, from umpire.Source, r umpire.Rule) (remark string, err error) {
	call, subject := literalCall(r, a.Dir)
	if r.Action != umpire.Allow || subject == "" {
		return "", nil
	}
	if d, err := decideAlone(call, a.UserHome()); err == nil && d.Verdict == umpire.Deny &&
		d.ReasonCode != umpire.CodeInvalid {
		return "", app.Refused("umpire help order", "no rule can allow %q: %s", subject, phrases.English.Text(d.Reason))
	}
	r.Source = from // a rule without a source allows nothing
	settings := a.GateConfig(p.Config)
	settings.Rules = append(settings.Rules, r)
	g := gate.New(settings)
	defer g.Close()
	d := g.Projects().Decide(a.Dir, policy.Query{Call: call, Conditions: policy.Conditions{Mode: p.Config.Mode}})
	switch {
	case d.Verdict == umpire.Deny && d.ReasonCode != umpire.CodeInvalid:
		return fmt.Sprintf(a.Text.Of("%q is still denied: %s"), subject, a.Text.Reason(d.Reason)), nil
	case d.Verdict == umpire.Ask && r.Match.CommandPrefix+r.Match.Command != "":
		return fmt.Sprintf(a.Text.Of("%q still asks: %s"), subject, a.Text.Reason(d.Reason)), nil
	}
	return "", nil
}

// decideAlone decides a call by the built-in rules alone, without those of the project
// and the person. They deny only calls that no rule can allow.
func decideAlone(call umpire.Call, home string) (umpire.Decision, error) {
	built, err := policy.New(nil, policy.Options{Root: call.Dir, Home: home})
	if err != nil {
		return umpire.Decision{}, err
	}
	facts, err := policy.FactsOf(call, shell.Env{Dir: call.Dir, Home: home})
	if err != nil {
		return umpire.Decision{}, err
	}
	given := policy.Conditions{Mode: umpire.ModeDefault}
	return policy.Decide(built, policy.Query{Call: call, Facts: facts, Conditions: given}), nil
}

// describeCoverage describes the coverage of a rule.
func describeCoverage(text *phrases.Language, r umpire.Rule) string {
	m := r.Match
	switch {
	case m.Command != "":
		return fmt.Sprintf(text.Of("it covers exactly the command %q"), m.Command)
	case m.CommandPrefix != "":
		return fmt.Sprintf(text.Of("it covers commands that begin with %q"), m.CommandPrefix)
	case m.PathGlob != "":
		return fmt.Sprintf(text.Of("it covers calls of %s on files that match %q"), r.Tool, m.PathGlob)
	case m.Domain != "":
		return fmt.Sprintf(text.Of("it covers calls of %s to %s"), r.Tool, m.Domain)
	case m != (umpire.Match{}):
		return fmt.Sprintf(text.Of("it covers %s"), policy.FormatShort(r))
	case policy.NamesEveryTool(r.Tool):
		return text.Of("it covers every call of every tool")
	case r.Tool == "Bash":
		return text.Of("it covers every command")
	}
	return fmt.Sprintf(text.Of("it covers every call of %s"), r.Tool)
}
