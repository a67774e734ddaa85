package tui

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
)

// The card is part of the conversation, below what led to it. The possible answers are below
// the conversation, visible wherever it is scrolled to.

// A cardView draws an approval.
type cardView struct{ *approval }

// consequenceStyle is the colour of what cannot be taken back.
func consequenceStyle(c umpire.Consequence) lipgloss.Style {
	switch c {
	case umpire.Harmless:
		return okStyle
	case umpire.Reversible:
		return warnStyle
	case umpire.Lost, umpire.Outward:
	}
	return badStyle
}

// A cardForm is what the lines of a card depend on.
type cardForm struct {
	of                    *view.Card
	width, waiting        int
	explain, raw, changes bool
	low                   bool
	diff, why, covered    int
	confirm               bool          // the rules that an approval writes stand above it
	answer                umpire.Answer // that is being given, as far as it is chosen
}

// cardLines are the lines of the question that is shown. They are drawn once for each
// form: a call can be a million characters long.
func (a *approval) cardLines(width int) []string {
	if a.card == nil {
		return nil
	}
	form := cardForm{
		a.card, width, len(a.list), a.explains, a.raw, a.changes, a.isLow(), len(a.diff), len(a.why),
		len(a.card.Pending.Coverage), a.step == stepConfirm, a.chosen(),
	}
	if form != a.form {
		a.form, a.lines = form, cardView{a}.draw(width)
	}
	return a.lines
}

// draw draws the card: what asks stands above everything that may be long.
func (a cardView) draw(width int) []string {
	p := a.current()
	style := consequenceStyle(p.Consequence)
	if a.step == stepConfirm {
		lines := []string{boldStyle.Render(oneLine(p.Tool+" "+a.card.Object(), width-2))}
		reach := append(a.card.Reach(a.chosen()), view.DescribeCoverage(a.card, a.chosen())...)
		lines = append(lines, foldLines(reach, width-2)...)
		a.pinned = len(lines)
		return prefixLines(style.Render("┃ "), cutAll(lines, width-2))
	}
	headline := a.card.Headline()
	lines := []string{style.Render(headline.In(width - 2))}
	if a.isLow() {
		for _, part := range []string{headline.Does, cutLine(headline.Object, width-2)} {
			if !strings.Contains(lines[0], part) { // there was no room for it
				lines = append(lines, foldLines([]string{part}, width-2)...)
			}
		}
		lines = append(append(lines, a.asking(width)...), a.intro(width)...)
	} else {
		lines = append(append(lines, a.intro(width)...), a.asking(width)...)
	}
	lines = append(lines, laidOut(a.card.Title(), width-2)...)
	a.pinned = len(lines)
	notes := []string{"⚠️ " + strings.Join(append([]string{a.text("Permission request")}, a.card.Cautions()...), " · ")}
	if claim, _ := a.card.Claim(); claim != "" {
		notes = append(notes, claim)
	}
	lines = append(lines, paintLines(dimStyle, foldLines(notes, width-2))...)
	lines = append(lines, paintLines(dimStyle, a.nextCalls(width-2))...)
	if a.whyAt = len(lines); a.explains {
		lines = append(lines, laidOut(strings.Join(a.whyLines(), "\n")+"\n"+a.card.Asker(), width-2)...)
	}
	if a.changes && len(a.diff) > 0 {
		lines = append(append(lines, a.diffLines(width-2)...), laidOut(a.card.Without(a.edited...), width-2)...)
	} else {
		lines = append(lines, laidOut(a.card.Without(shownFields(a.card)...), width-2)...)
	}
	if a.raw {
		lines = append(lines, foldLines(safeLines("\n"+laidOutJSON(p.Input)), width-2)...)
	}
	return prefixLines(style.Render("┃ "), cutAll(lines, width-2))
}

// lowScreen is the height below which a screen has room for what asks and for the keys, and
// for little else.
const lowScreen = 12

func (b *base) isLow() bool { return b.height < lowScreen }

// intro says that something is asked, how the question stands, and which command it is about.
func (a cardView) intro(width int) []string {
	asks := a.textf("%s asks to run:", view.Visible(a.current().Tool)) + "  " + a.position()
	lines := []string{boldStyle.Render(cutLine(asks, width-2))}
	for i, line := range a.card.Brief() {
		lines = append(lines, indentLines(map[bool]string{true: "$ ", false: "  "}[i == 0], []string{line}, width-2)...)
	}
	return lines
}

// asking draws what must not be overlooked and what an answer is about, the worst first.
func (a cardView) asking(width int) []string {
	var lines []string
	if remarks := strings.TrimSpace(a.card.Remarks()); remarks != "" {
		lines = paintLines(badStyle, laidOut(strings.ReplaceAll(remarks, "\n\n  ", "\n"), width-2))
	}
	return append(lines, laidOut(strings.TrimPrefix(a.card.Asking(), "\n"), width-2)...)
}

// nextShown is how many of the calls behind a card are named on it.
const nextShown = 2

// nextCalls name the next calls of the same message that wait behind the card.
func (a cardView) nextCalls(width int) []string {
	var lines []string
	for i := a.at + 1; i < len(a.list) && len(lines) < nextShown; i++ {
		if p := &a.list[i]; p.Batch == a.current().Batch && p.Session == a.current().Session {
			lines = append(lines, oneLine(a.text("then")+"  "+titleOf(a.approval, p), width))
		}
	}
	return lines
}

// titleOf names one of the questions that wait.
func titleOf(a *approval, p *umpire.Pending) string {
	return view.TitleOf(p, a.sessions[p.Session], a.conf.Text)
}

// shownFields are the fields that stand on the card's first lines.
func shownFields(c *view.Card) (fields []string) {
	if command := c.Command(); len(command) > 0 && slices.Equal(command, c.Brief()) {
		fields = append(fields, "command")
	}
	if _, field := c.Claim(); field != "" {
		fields = append(fields, field)
	}
	return fields
}

// position says which of the message's calls this is, and how many questions wait.
func (a cardView) position() string {
	p := a.current()
	position := a.textf("%d of %d", p.Position, p.Total)
	if n := len(a.list); n > 1 {
		position = view.Joined(position, ", ", a.conf.Text.Count(n, "%d waits", "%d wait"))
	}
	if expiry := a.card.Expiry(); expiry != "" {
		position = view.Joined(position, ", ", expiry)
	}
	return position
}

// laidOut folds a section of the card, which is safe already.
func laidOut(section string, width int) []string {
	var all []string
	if section == "" {
		return nil
	}
	for line := range strings.SplitSeq(strings.TrimRight(section, "\n"), "\n") {
		deep := len(line) - len(strings.TrimLeft(line, " "))
		all = append(all, indentLines(line[:deep], []string{line[deep:]}, width)...)
	}
	return all
}

func laidOutJSON(input json.RawMessage) string {
	var laid bytes.Buffer
	if json.Indent(&laid, input, "", "  ") != nil {
		return string(input)
	}
	return laid.String()
}

// A diffMsg is the change that a question is about.
type diffMsg struct {
	request umpire.RequestID
	change  Change
}

func (d diffMsg) apply(m *model) {
	a := &m.ask
	p := a.current()
	if p == nil || p.Request != d.request || d.change.Diff == "" {
		return
	}
	a.diff, a.edited, a.changes = safeLines(d.change.Diff), d.change.Shown, true
	if clipLong(d.change.Diff) != d.change.Diff {
		a.edited = nil // what is left out is read in the fields
	}
}

// loadDiff works out what an edit would change.
func (a *approval) loadDiff(p umpire.Pending, s umpire.Session) tea.Cmd {
	if a.conf.Change == nil {
		return nil
	}
	return a.do(func(ctx context.Context) tea.Msg { return diffMsg{p.Request, a.conf.Change(ctx, p, s)} })
}

// diffLines draws the change.
func (a cardView) diffLines(width int) []string {
	var lines []string
	diff := a.diff
	if name := " " + a.card.Object(); len(diff) > 2 && diff[1] == "+++"+name &&
		(diff[0] == "---"+name || diff[0] == "--- /dev/null") {
		diff = diff[2:] // the first line of the card says which file it is
	}
	for _, line := range diff {
		style := plainStyle
		switch {
		case strings.HasPrefix(line, "+"):
			style = okStyle
		case strings.HasPrefix(line, "-"):
			style = badStyle
		case strings.HasPrefix(line, "@@"):
			style = dimStyle
		}
		lines = append(lines, paintLines(style, foldLines([]string{line}, width))...)
	}
	return lines
}

// menu draws what can be answered.
func (a cardView) menu(width, height int) []string {
	var lines []string
	switch a.step {
	case stepReason:
		lines = a.field(view.Joined(a.text("Deny"), ": ", ""), a.text("Enter: confirm denying · Esc: back"), width)
	case stepRule:
		lines = a.field(
			view.Joined(a.text("Rule to write"), ": ", ""), a.text("Enter: look at it · Tab: wider · Esc: back"), width,
		)
	case stepCode:
		lines = a.field(view.Joined(a.textf("Type %s and Enter", a.coded.code), ": ", ""), a.text("Esc: back"), width)
	case stepConfirm:
		allow := a.text("write it and allow")
		if a.scope == umpire.ScopeSession {
			allow = a.text("allow this session")
		}
		lines = foldLines([]string{drawKeys("y", allow, "Tab", a.text("another width"), "Esc", a.text("back"))}, width)
	case stepRest:
		lines = a.restLines(width)
	case stepNone:
		lines = a.choices(width, height)
	}
	if problem := paintLines(badStyle, foldLines(safeLines(a.complaint), width)); a.complaint != "" &&
		height < scopesFrom {
		lines = append(problem, lines...) // below the keys it would be cut off
	} else if a.complaint != "" {
		lines = append(lines, problem...)
	}
	if a.state == cardLoading || a.held != "" || !a.settled() { // keys do not count yet
		lines = paintLines(dimStyle, cutAll(lines, width-2))
		lines[0] += " …"
	}
	return cutAll(lines, width)
}

// field draws a line that is written on.
func (a cardView) field(name, hint string, width int) []string {
	a.input.SetWidth(max(10, width-len([]rune(name))*2-1))
	return []string{boldStyle.Render(name) + fieldView(&a.input, a.hint), dimStyle.Render(hint)}
}

// fieldView draws a field, with a hint while nothing is written.
func fieldView(field *textinput.Model, hint string) string {
	if field.Value() != "" {
		return field.View()
	}
	mark := " "
	if field.Focused() {
		mark = barStyle.Render(" ")
	}
	return mark + dimStyle.Render(hint)
}

// drawKeys writes keys with what they do.
func drawKeys(pairs ...string) string {
	var parts []string
	for i := 0; i+1 < len(pairs); i += 2 {
		parts = append(parts, keyStyle.Render(pairs[i])+" "+pairs[i+1])
	}
	return strings.Join(parts, dimStyle.Render(" · "))
}

// scopesFrom is the height from which on the scopes are listed, and scopesWide the width: on a narrow
// terminal they would take the place of what the call does.
const (
	scopesFrom = 18
	scopesWide = 60
)

// choices are the answers, with what each scope covers.
func (a cardView) choices(width, height int) []string {
	if a.isLow() && !a.read { // the rest of the card needs the room
		return []string{drawKeys("PgDn", "↓", "n", a.text("deny"))}
	}
	answers := []string{"y", a.text("allow once")}
	if slices.ContainsFunc(a.card.Options(), writesRule) {
		answers = append(answers, "a", a.text("always allow"))
	}
	answers = append(answers, "n", a.text("deny"), "c", a.text("cancel"))
	lines := foldLines([]string{drawKeys(answers...)}, width)
	if height >= scopesFrom && width >= scopesWide {
		lines = append(lines, a.scopes(width)...)
	}
	more := []string{"e", a.text("explain"), "v", a.text("raw")}
	if offer := a.current().TrialOffer; offer != umpire.NoTrial {
		more = append([]string{"t", view.NameOffer(offer, a.conf.Text)}, more...)
	}
	if len(a.diff) > 0 {
		more = append(more, "d", a.text("diff"))
	}
	if len(a.list) > 1 {
		more = append(more, "j/k", a.text("next call"), "Y", a.text("all like it"))
	}
	if a.conf.Inbox {
		more = append(more, "?", a.text("keys"), "q", a.text("leave"))
	} else {
		more = append(more, "Tab", a.text("write a message"))
	}
	return append(lines, foldLines([]string{drawKeys(more...)}, width)...)
}

// writesRule reports whether an answer is what the key for always is about.
func writesRule(o view.Option) bool { return o.Answer.Scope == umpire.ScopeProject }

// scopeLines is about how many lines the menu gives to one scope.
const scopeLines = 3

// scopes list how far an approval may reach, with the exact rule where one is written.
func (a cardView) scopes(width int) []string {
	lines := []string{a.text("Allow") + " ▾ / " + a.text("Deny")}
	for _, s := range a.card.ScopeKeys() {
		reach := a.card.Reach(umpire.Answer{Scope: s.Scope})
		if len(reach) == 0 {
			continue
		}
		name := a.text(s.Menu)
		head := "  " + keyStyle.Render(s.Key) + " " + name + strings.Repeat(" ", max(1, 20-lipgloss.Width(name)))
		text := view.List(reach, "; ")
		if len(text) > scopeLines*width { // the key shows all of it before anything is approved
			text = a.conf.Text.Count(len(reach), "%d line, shown before you confirm",
				"%d lines, shown before you confirm")
		}
		if covered := view.CountCoverage(a.card, umpire.Answer{Scope: s.Scope}); covered != "" {
			text = view.Bracketed(text, covered)
		}
		lines = append(lines, indentLines(head, paintLines(dimStyle, []string{text}), width)...)
	}
	if len(a.card.Widths(umpire.ScopeSession)) > 0 && len(a.card.ScopeKeys()) > 1 {
		lines = append(lines, "  "+keyStyle.Render("w")+" "+a.text("allow more: a subcommand, a folder or the tool"))
	}
	return lines
}

// restLines say what would be approved along with the card.
func (a cardView) restLines(width int) []string {
	rest := a.rest()
	lines := []string{a.textf("allow once, all of risk %s: %d", a.current().Risk, len(rest))}
	for i := range rest {
		lines = append(lines, "  "+oneLine(titleOf(a.approval, &rest[i]), width-2))
	}
	return append(lines, drawKeys("Y", a.text("allow them"), "Esc", a.text("back")))
}

// waitingElsewhere is the line that says that a card waits while it is not answered.
func (a *approval) waitingElsewhere() string {
	return warnStyle.Render(fmt.Sprintf(a.text("%d wait for an answer"), len(a.list))) + dimStyle.Render(" · ") +
		drawKeys("Tab", a.text("answer"))
}

func trimTyped(text string) string { return strings.TrimSpace(cleanTyped(text)) }

// cleanTyped takes what is not seen out of what a person typed.
func cleanTyped(text string) string {
	return strings.Map(func(r rune) rune {
		if view.Visible(string(r)) != string(r) {
			return -1
		}
		return r
	}, text)
}
