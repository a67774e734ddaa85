package run

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// showDecision writes a decision for a program or a person, depending on the flags.
func showDecision(a *app.App, f *checkFlags, root string, d umpire.Decision) error {
	if f.json {
		return a.ShowJSON(d)
	}
	var b bytes.Buffer
	p := &page{w: &b, in: view.Folders{Root: root, Home: a.UserHome()}, text: a.Text, colour: a.Colour()}
	p.head(d)
	if f.explain {
		p.rows(d)
	} else if len(d.Accesses) > 1 {
		p.parts(d)
	}
	p.next(d)
	_, err := a.Stdout.Write(b.Bytes())
	return err
}

// A page writes a decision for a person.
type page struct {
	w      io.Writer
	in     view.Folders
	text   *catalogue.Language
	colour bool
}

// verdict writes a verdict in its colour, padded to the longest one.
func (p *page) verdict(v umpire.Verdict) string {
	return view.Verdict(v, p.text, p.colour)
}

// head says what the call would do, and then why that is not simply allowed.
func (p *page) head(d umpire.Decision) {
	said, why := view.Explain(&d, p.in, p.text)
	if said == "" {
		said, why = why, ""
	}
	fmt.Fprintln(p.w, p.verdict(d.Verdict)+"  "+said)
	if why != "" {
		fmt.Fprintf(p.w, "       %s\n", why)
	}
	if d.Rule != nil {
		fmt.Fprintf(p.w, "       %s %s\n", p.text.Of("rule"), view.Visible(view.RuleText(d.Rule, p.text)))
	}
}

// parts shows each access with its deciding reason.
func (p *page) parts(d umpire.Decision) {
	fmt.Fprintln(p.w)
	for i := range d.Accesses {
		access := &d.Accesses[i]
		risk := view.Padded(p.text.Word("of risk", access.Risk.String()), 8)
		fmt.Fprintf(p.w, "  %s  %s  %s\n", p.verdict(access.Verdict), risk,
			app.Clip(view.Visible(p.accessText(access))))
		if why := whyText(p.text, d, i); why != "" {
			fmt.Fprintf(p.w, "                   %s\n", app.Clip(view.Visible(why)))
		}
	}
}

// accessText describes an access, with its path shortened.
func (p *page) accessText(a *umpire.Access) string {
	short := *a
	short.Target = p.in.Target(a)
	return view.AccessText(&short, p.text)
}

// whyText describes the access and the reason that settled it.
func whyText(text *catalogue.Language, d umpire.Decision, i int) string {
	access := &d.Accesses[i]
	var why []string
	if access.Reason != "" {
		why = append(why, text.Reason(access.Reason))
	}
	if access.Doubt != "" && access.Doubt != access.Reason {
		why = append(why, view.Joined(text.Of("in doubt"), ": ", text.Reason(access.Doubt)))
	}
	if r := settled(d, i); r != nil && r.Text != d.Reason && r.Code != umpire.CodeSafe && r.Code != umpire.CodeMode &&
		(access.Doubt == "" || !strings.HasSuffix(text.Reason(r.Text), text.Reason(access.Doubt))) {
		why = append(why, text.Reason(r.Text))
	}
	return view.List(why, "; ")
}

// settled returns the first reason about an access, which decided it.
func settled(d umpire.Decision, i int) *umpire.Reason {
	for r := range d.Reasons {
		if d.Reasons[r].Access == i {
			return &d.Reasons[r]
		}
	}
	return nil
}

// rows shows every row that spoke, access by access.
func (p *page) rows(d umpire.Decision) {
	later := false
	fmt.Fprintln(p.w)
	table := app.NewTable(p.w)
	table.Head(p.text, "ACCESS", "RISK", "KNOWN FROM", "ROW", "VERDICT", "WHY")
	for i := range d.Reasons {
		r := &d.Reasons[i]
		var what, risk, known string
		verdict := p.text.Word("verdict", r.Verdict.String())
		switch {
		case r.Access < 0 || r.Access >= len(d.Accesses):
			what = p.text.Of("the whole call")
		case settled(d, r.Access) == r:
			access := &d.Accesses[r.Access]
			what, risk, known = p.accessText(access), p.text.Word("of risk", access.Risk.String()),
				access.Table
		default:
			verdict, later = "("+verdict+")", true
		}
		table.Row(app.Clip(view.Visible(what)), risk, view.Visible(known),
			fmt.Sprintf("%d %s", r.Row, view.RowName(r.Row, p.text)), verdict, app.Clip(view.Visible(p.rowText(r))))
	}
	_ = table.Flush() // into memory
	if later {
		fmt.Fprintf(p.w, "\n%s\n",
			p.text.Of("Rows in brackets also match but come later in the order; umpire help order lists all rows."))
	}
}

// rowText is a reason with the rule that it names.
func (p *page) rowText(r *umpire.Reason) string {
	if r.Rule == nil {
		return p.text.Reason(r.Text)
	}
	return p.text.Reason(r.Text) + " [" + view.RuleText(r.Rule, p.text) + "]"
}

// next shows the rule that would settle the question next time.
func (p *page) next(d umpire.Decision) {
	if d.Verdict != umpire.Ask {
		return
	}
	asked := umpire.Pending{OutsideTask: d.OutsideTask, RaiseTo: d.RaiseTo, RaiseTries: d.RaiseTries}
	said, command := view.HowToSettle(&asked, p.text)
	if command != "" && (!d.RaiseTries || sandbox.Available().Whole()) {
		fmt.Fprintf(p.w, "\n%s\n", view.Joined(said, ": ", command))
	}
	if len(d.Suggestions) == 0 {
		return
	}
	fmt.Fprintf(p.w, "\n%s\n", p.text.Of("To settle this for next time, narrowest first:"))
	width := umpire.WidthDefault
	for _, s := range d.Suggestions {
		if s.Width != width {
			width = s.Width
			fmt.Fprintf(p.w, "  # %s\n", p.text.Of(widthTexts[width]))
		}
		fmt.Fprintf(p.w, "  umpire rules add %s\n", view.Visible(app.RuleWords(&s)))
	}
}

// widthTexts describe the coverage of the widths.
var widthTexts = map[umpire.Width]string{
	umpire.WidthExact:      "exactly this",
	umpire.WidthSubcommand: "this subcommand, with options and targets of no higher consequence",
	umpire.WidthFolder:     "everything below the folder",
	umpire.WidthParent:     "everything below the folder that holds the workspace",
	umpire.WidthTool:       "every use of the tool, on every file",
}
