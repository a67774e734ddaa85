package rules

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/rulefile/prove"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// A proof is an answer of `umpire rules prove`, in its JSON form.
type proof struct {
	Of     string        `json:"of,omitempty"`
	Answer prove.Result  `json:"answer"`
	Why    umpire.Phrase `json:"why,omitempty"`
	// Command and Call are the example; Command is "" for a tool other than the shell.
	Command   string           `json:"command,omitempty"`
	Tool      string           `json:"tool,omitempty"`
	Input     json.RawMessage  `json:"input,omitempty"`
	Target    string           `json:"target,omitempty"`
	Verdict   string           `json:"verdict,omitempty"`
	Reason    umpire.Phrase    `json:"reason,omitempty"`
	Rule      *umpire.RuleRef  `json:"rule,omitempty"`
	Confirmed bool             `json:"confirmed"`
	Rules     []umpire.RuleRef `json:"rules,omitempty"`
	Dead      bool             `json:"dead,omitempty"`
	Gaps      []umpire.Phrase  `json:"gaps,omitempty"`
}

// newProof describes an answer. general says that the general limits of the model belong to it.
func newProof(a *prove.Answer, general bool) *proof {
	p := &proof{Answer: a.Result, Why: a.Why, Rules: a.Rules, Dead: a.Dead && a.Result == prove.No, Gaps: a.Gaps}
	if e := a.Example; e != nil {
		p.Command, p.Tool, p.Input, p.Target, p.Confirmed = e.Command, e.Call.Tool, e.Call.Input, e.Target, e.Confirmed
		if p.Tool != "Bash" {
			p.Command = ""
		}
		d := &e.Decision
		if e.Confirmed {
			d = &e.Checked
		}
		p.Verdict, p.Reason, p.Rule = d.Verdict.String(), d.Reason, d.Rule
	}
	if general && a.Result != prove.Yes {
		p.Gaps = append(p.Gaps, prove.Gaps()...)
	}
	return p
}

// code returns the exit code of the answer, which is like that of a verdict.
func (p *proof) code() int {
	switch p.Answer {
	case prove.Yes:
		return app.ExitDone
	case prove.No:
		return app.ExitDenied
	case prove.Undecided:
	}
	return app.ExitAsks
}

// present writes the answer. Its error is silent and has the exit code.
func (p *proof) present(a *app.App, c *proveCommand) error {
	err := a.Show(c.json, p, func() error { p.tell(a.Stdout, a.Text, ""); return nil })
	if err == nil && p.code() != app.ExitDone {
		return &app.CommandError{Code: p.code()}
	}
	return err
}

// tell writes the answer for a person.
func (p *proof) tell(out io.Writer, text *catalogue.Language, indent string) {
	line := func(format string, args ...any) {
		fmt.Fprintf(out, "%s%s\n", indent, view.Visible(fmt.Sprintf(text.Of(format), args...)))
	}
	call := p.Command
	if call == "" && p.Tool != "" {
		call = fmt.Sprintf("%s %s", p.Tool, p.Input)
	}
	switch p.Answer {
	case prove.Yes:
		line("yes: %s", call)
		if p.Rule != nil && p.Rule.File != "" {
			line("  %s by %s (%s:%d): %s", p.Verdict, p.Rule.ID, p.Rule.File, p.Rule.Line, text.Reason(p.Reason))
		} else {
			line("  %s: %s", p.Verdict, text.Reason(p.Reason))
		}
		if p.Confirmed {
			line("  umpire check confirms it")
		}
	case prove.No:
		switch {
		case p.Dead:
			line("no: the rule matches nothing")
		case p.Why != "":
			line("no: %s", text.Reason(p.Why))
		case len(p.Rules) == 0:
			line("no: no call of the model does")
		}
	case prove.Undecided:
		line("undecided: %s", text.Reason(p.Why))
		if call != "" {
			line("  it would be: %s", call)
		}
	}
	for _, r := range p.Rules {
		line("no: %s always decides first (%s)", r.ID, placeOf(umpire.Rule{File: r.File, Line: r.Line}))
	}
	for _, gap := range p.Gaps {
		line("gap: %s", text.Reason(gap))
	}
}
