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
	"github.com/umpirehq/umpire/internal/view/fold"
)

// The card is part of the conversation, below the messages that led to it. The possible
// answers are below the conversation, visible at any scroll position.

// A cardView draws an approval.
type cardView struct{ *approval }

// consequenceStyle returns the colour for a consequence.
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

// A cardForm holds everything that the rows of a card depend on.
type cardForm struct {
	of                   *view.Card
	width, waiting       int
	explain, raw, fields bool
	low, opened          bool
	diff, why, covered   int
	age                  string        // of the question, if the card shows it
	confirm              bool          // the rules of the approval are above it
	answer               umpire.Answer // the answer in progress, as far as chosen
}

// cardLines are the rows of the question that is shown. They are drawn once for each
// form: a call can be a million characters long.
func (a *approval) cardLines(width int) []string {
	if a.card == nil {
		return nil
	}
	age := ""
	if a.explains {
		age = view.Age(a.conf.Now().Sub(a.card.Pending.AskedAt))
	}
	form := cardForm{
		a.card, width, len(a.list), a.explains, a.raw, a.fields, a.isLow(), a.opened, len(a.diff), len(a.why),
		len(a.card.Pending.Coverage), age, a.step == stepConfirm, a.chosen(),
	}
	if form != a.form {
		a.form, a.drawn = form, cardView{a}.draw(width)
	}
	return a.drawn.lines
}

// draw draws the card, with the parts that ask above all parts that may be long.
func (a cardView) draw(width int) cardRows {
	p := a.current()
	style := consequenceStyle(p.Consequence)
	r := cardRows{width: width - 2}
	if a.step == stepConfirm {
		r.bindText(rulesPart, boldStyle, oneLine(p.Tool+" "+a.card.Object(), r.width))
		r.bindText(rulesPart, plainStyle, a.card.Reach(a.chosen())...)
		r.bindText(rulesPart, plainStyle, view.DescribeCoverage(a.card, a.chosen())...)
	} else {
		a.drawFacts(&r, style)
		a.drawContent(&r)
	}
	r.lines = prefixLines(style.Render("┃ "), cutAll(r.lines, r.width))
	return r
}

// drawFacts draws the consequence of the call first, then the call itself, and why it asks. The rest is in the details.
func (a cardView) drawFacts(r *cardRows, style lipgloss.Style) {
	r.bindText(factsPart, style, a.card.Headline())
	if a.isLow() { // the parts that ask come before the command
		a.asking(r)
		a.call(r)
	} else {
		a.call(r)
		a.asking(r)
	}
	if why := view.WhyAsked(a.card); why != "" {
		r.bindText(factsPart, plainStyle, why)
	}
	if a.whyAt = len(r.lines); a.explains {
		r.addRows(laidOut(a.card.Title(), r.width)...)
		for _, line := range append(a.whyLines(), strings.Split(a.card.AskerAt(a.conf.Now()), "\n")...) {
			r.addRows(indented(line, r.width)...)
		}
	}
}

// drawContent draws the call's changes and code: the diff, or else the fields, and the code.
func (a cardView) drawContent(r *cardRows) {
	rest := fieldsPart
	shown := shownFields(a.card)
	if len(a.diff) > 0 {
		rest = restPart
		a.bindDiff(r)
		shown = append(shown, a.edited...)
	}
	r.bindSection(rest, plainStyle, a.card.Without(shown...), a.approval)
	asks := a.textf("%s asks to run:", view.Visible(a.current().Tool)) + "  " + a.position()
	cautions := append([]string{a.text("Permission request")}, a.card.Cautions()...)
	notes := []string{cutLine(asks, r.width), "⚠️ " + strings.Join(cautions, " · ")}
	if claim, _ := a.card.Claim(); claim != "" {
		notes = append(notes, claim)
	}
	r.bindText(factsPart, dimStyle, notes...)
	if said, command := view.HowToSettle(a.current(), a.conf.Text); command != "" {
		r.addRows(dimStyle.Render(oneLine(view.Joined(said, ": ", command), r.width)))
	}
	r.addRows(paintLines(dimStyle, a.nextCalls(r.width))...)
	if a.fields && len(a.diff) > 0 {
		r.addRows(laidOut(a.card.Without(shownFields(a.card)...), r.width)...)
	}
	if a.raw {
		r.addRows(foldLines(safeLines("\n"+laidOutJSON(a.current().Input)), r.width)...)
	}
}

// lowScreen is the height below which a screen has room only for the question and the keys.
const lowScreen = 12

func (b *base) isLow() bool { return b.height < lowScreen }

// call draws the command of the call, or its tool and object.
func (a cardView) call(r *cardRows) {
	brief := a.card.Brief()
	if len(brief) == 0 {
		r.bind(factsPart, "call", boldStyle.Render(oneLine(a.current().Tool+" "+a.card.Object(), r.width)))
	}
	for i, line := range brief {
		r.bind(factsPart, line,
			indentLines(map[bool]string{true: "$ ", false: "  "}[i == 0], []string{line}, r.width)...)
	}
}

// asking draws the warnings and the subject of the answer, the worst first, unless the headline says all of it.
func (a cardView) asking(r *cardRows) {
	if remarks := strings.TrimSpace(a.card.Remarks()); remarks != "" {
		r.bindSection(factsPart, badStyle, strings.ReplaceAll(remarks, "\n\n  ", "\n"), a.approval)
	}
	if !view.HeadlineTellsAll(a.card) {
		r.bindSection(factsPart, plainStyle, strings.TrimPrefix(a.card.Asking(), "\n"), a.approval)
	}
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
	return view.TitleOf(p, a.sessions[p.Session], a.conf.Home, a.conf.Text)
}

// shownFields returns the fields on the card's first lines.
func shownFields(c *view.Card) (fields []string) {
	if command := c.Command(); len(command) > 0 && slices.Equal(command, c.Brief()) {
		fields = append(fields, "command")
	}
	if _, field := c.Claim(); field != "" {
		fields = append(fields, field)
	}
	return fields
}

// position returns the call's position in the message, and the number of open questions.
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
		all = append(all, indented(line, width)...)
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

// loadDiff computes the diff of an edit, and shows it if its card is still on the screen.
func (a *approval) loadDiff(p umpire.Pending, s umpire.Session) tea.Cmd {
	if a.conf.Change == nil {
		return nil
	}
	a.comparing = true
	return a.do(func(ctx context.Context) tea.Msg {
		change := a.conf.Change(ctx, p, s)
		return updateMsg(func() {
			if now := a.current(); now == nil || idOf(now) != idOf(&p) {
				return
			}
			a.comparing, a.cutDiff = false, change.Cut
			if r := a.readings.of(&p); r.diff != change.Diff { // a reading of another diff does not count
				*r = reading{diff: change.Diff}
			}
			if change.Diff != "" {
				a.diff, a.edited = visibleLines(change.Diff), change.Shown
				a.folded = fold.Diff(a.diff, a.conf.Text)
			}
		})
	})
}

// bindDiff draws the change.
func (a cardView) bindDiff(r *cardRows) {
	folded := a.folded
	if name := " " + a.card.Object(); len(folded) > 2 && folded[1].Text == "+++"+name &&
		(folded[0].Text == "---"+name || folded[0].Text == "--- /dev/null") {
		folded = folded[2:] // the card's first line names the file
	}
	r.bindFolds(folded, a.opened, func(line string) {
		style := plainStyle
		switch {
		case strings.HasPrefix(line, "+"):
			style = okStyle
		case strings.HasPrefix(line, "-"):
			style = badStyle
		case strings.HasPrefix(line, "@@"):
			style = dimStyle
		}
		r.bindText(diffPart, style, line)
	})
}

// menu draws the possible answers.
func (a cardView) menu(width int) []string {
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
	case stepMenu:
		lines = a.scopes(width)
	case stepBlind:
		lines = a.blindLines(width)
	case stepNone:
		lines = a.answerLines(width)
	}
	if a.complaint != "" { // below the keys it would be cut off on a low screen
		lines = append(paintLines(badStyle, foldLines(safeLines(a.complaint), width)), lines...)
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

// fieldView draws a field, with a hint while it is empty.
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

// drawKeys writes keys with their actions.
func drawKeys(pairs ...string) string {
	var parts []string
	for i := 0; i+1 < len(pairs); i += 2 {
		parts = append(parts, strings.TrimRight(keyStyle.Render(pairs[i])+" "+pairs[i+1], " "))
	}
	return strings.Join(parts, dimStyle.Render(" · "))
}

// restLines lists the calls that would be approved along with the card.
func (a cardView) restLines(width int) []string {
	rest := a.rest()
	lines := []string{a.textf("allow once, all of risk %s: %d", a.current().Risk, len(rest))}
	for i := range rest {
		lines = append(lines, "  "+oneLine(titleOf(a.approval, &rest[i]), width-2))
	}
	return append(lines, drawKeys("Y", a.text("allow them"), "Esc", a.text("back")))
}

// waitingElsewhere returns a line that says that a card waits for an answer.
func (a cardView) waitingElsewhere() string {
	return warnStyle.Render(fmt.Sprintf(a.text("%d wait for an answer"), len(a.list))) + dimStyle.Render(" · ") +
		drawKeys("Tab", a.text("answer"))
}

func trimTyped(text string) string { return strings.TrimSpace(cleanTyped(text)) }

// cleanTyped removes invisible characters from typed text.
func cleanTyped(text string) string {
	return strings.Map(func(r rune) rune {
		if view.Visible(string(r)) != string(r) {
			return -1
		}
		return r
	}, text)
}
