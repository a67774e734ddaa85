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

// The card stands in the conversation, below what led to it; what can be answered
// stands below it, where it is seen whatever is scrolled.

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
	diff, why             int
	confirm               bool          // the rules that an approval writes stand above it
	answer                umpire.Answer // that is being given, as far as it is chosen
}

// cardLines are the lines of the question that is shown. They are drawn once for each
// form: a call can be a million characters long.
func (m *model) cardLines(width int) []string {
	a := &m.ask
	if a.card == nil {
		return nil
	}
	form := cardForm{a.card, width, len(a.list), a.explain, a.raw, a.changes, len(a.diff), len(a.why), a.step == stepConfirm, a.chosen()}
	if form != a.form {
		a.form, a.lines = form, m.drawCard(width)
	}
	return a.lines
}

// drawCard draws the card: what asks stands above everything that may be long.
func (m *model) drawCard(width int) []string {
	a, p := &m.ask, m.ask.current()
	style := consequenceStyle(p.Consequence)
	if a.step == stepConfirm {
		lines := []string{boldStyle.Render(oneLine(p.Tool+" "+a.card.Object(), width-2))}
		lines = append(lines, fold(a.card.Reach(a.chosen()), width-2)...)
		a.pinned = len(lines)
		return prefixed(style.Render("┃ "), cutAll(lines, width-2))
	}
	title := "⚠️ " + m.text("Permission request") + "  " + p.Tool + " " + a.card.Object()
	if lipgloss.Width(title) > width-2 { // the object is worth more than the word
		title = "⚠️ " + p.Tool + " " + a.card.Object()
	}
	lines := []string{style.Render(oneLine(title, width-2))}
	lines = append(lines, boldStyle.Render(oneLine(m.textf("%s asks to run:", p.Tool)+"  "+m.position(), width-2)))
	for i, line := range a.card.Brief() {
		lines = append(lines, indented(map[bool]string{true: "$ ", false: "  "}[i == 0], []string{line}, width-2)...)
	}
	for _, caution := range a.card.Cautions() {
		lines = append(lines, dimStyle.Render(caution))
	}
	lines = append(lines, m.laidOut(a.card.Title(), width-2)...)
	if remarks := strings.TrimSpace(a.card.Remarks()); remarks != "" {
		lines = append(lines, paint(badStyle, m.laidOut(strings.ReplaceAll(remarks, "\n\n  ", "\n"), width-2))...)
	}
	lines = append(lines, m.laidOut(strings.TrimPrefix(a.card.Asking(), "\n"), width-2)...)
	a.pinned = len(lines)
	if a.whyAt = len(lines); a.explain {
		lines = append(lines, m.laidOut(strings.Join(m.whyLines(), "\n")+"\n"+a.card.Asker(), width-2)...)
	}
	if a.changes && len(a.diff) > 0 {
		lines = append(append(lines, m.diffLines(width-2)...), m.laidOut(a.card.Without(a.edited...), width-2)...)
	} else {
		lines = append(lines, m.laidOut(a.card.Without(shownCommand(a.card)...), width-2)...)
	}
	if a.raw {
		lines = append(lines, fold(safe("\n"+laidOutJSON(p.Input)), width-2)...)
	}
	return prefixed(style.Render("┃ "), cutAll(lines, width-2))
}

// shownCommand are the fields that stand on the card's first lines.
func shownCommand(c *view.Card) []string {
	if command := c.Command(); len(command) > 0 && slices.Equal(command, c.Brief()) {
		return []string{"command"}
	}
	return nil
}

// position says which of the message's calls this is, and how many questions wait.
func (m *model) position() string {
	p := m.ask.current()
	position := m.textf("%d of %d", p.Position, p.Total)
	if n := len(m.ask.list); n > 1 {
		position = view.Joined(position, ", ", m.textf("%d wait", n))
	}
	return position
}

// laidOut folds a section of the card, which is safe already.
func (m *model) laidOut(section string, width int) []string {
	var all []string
	if section == "" {
		return nil
	}
	for line := range strings.SplitSeq(strings.TrimRight(section, "\n"), "\n") {
		deep := len(line) - len(strings.TrimLeft(line, " "))
		all = append(all, indented(line[:deep], []string{line[deep:]}, width)...)
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
	p := m.ask.current()
	if p == nil || p.Request != d.request || d.change.Diff == "" {
		return
	}
	m.ask.diff, m.ask.edited, m.ask.changes = safe(d.change.Diff), d.change.Shown, true
	if clipLong(d.change.Diff) != d.change.Diff {
		m.ask.edited = nil // what is left out is read in the fields
	}
}

// loadDiff works out what an edit would change.
func (m *model) loadDiff(p umpire.Pending, s umpire.Session) tea.Cmd {
	if m.conf.Change == nil {
		return nil
	}
	return m.do(func(context.Context) tea.Msg { return diffMsg{p.Request, m.conf.Change(p, s)} })
}

// diffLines draws the change.
func (m *model) diffLines(width int) []string {
	var lines []string
	for _, line := range m.ask.diff {
		style := plainStyle
		switch {
		case strings.HasPrefix(line, "+"):
			style = okStyle
		case strings.HasPrefix(line, "-"):
			style = badStyle
		case strings.HasPrefix(line, "@@"):
			style = dimStyle
		}
		lines = append(lines, paint(style, fold([]string{line}, width))...)
	}
	return lines
}

// menu draws what can be answered.
func (m *model) menu(width, height int) []string {
	a := &m.ask
	var lines []string
	switch a.step {
	case stepReason:
		lines = m.field(view.Joined(m.text("Deny"), ": ", ""), m.text("Enter: confirm denying · Esc: back"), width)
	case stepRule:
		lines = m.field(view.Joined(m.text("Rule to write"), ": ", ""), m.text("Enter: look at it · Tab: wider · Esc: back"), width)
	case stepConfirm:
		allow := m.text("write it and allow")
		if a.scope == umpire.ScopeSession {
			allow = m.text("allow this session")
		}
		lines = fold([]string{keys("y", allow, "Tab", m.text("another width"), "Esc", m.text("back"))}, width)
	case stepRest:
		lines = m.restLines(width)
	case stepNone:
		lines = m.choices(width, height)
	}
	if problem := paint(badStyle, fold(safe(a.problem), width)); a.problem != "" && height < scopesFrom {
		lines = append(problem, lines...) // below the keys it would be cut off
	} else if a.problem != "" {
		lines = append(lines, problem...)
	}
	if a.state == cardLoading || a.held != "" || !m.settled() { // keys do not count yet
		lines = paint(dimStyle, cutAll(lines, width-2))
		lines[0] += " …"
	}
	return cutAll(lines, width)
}

// field draws a line that is written on.
func (m *model) field(name, hint string, width int) []string {
	m.ask.input.SetWidth(max(10, width-len([]rune(name))*2-1))
	return []string{boldStyle.Render(name) + fieldView(&m.ask.input, m.ask.hint), dimStyle.Render(hint)}
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

// keys writes keys with what they do.
func keys(pairs ...string) string {
	var parts []string
	for i := 0; i+1 < len(pairs); i += 2 {
		parts = append(parts, keyStyle.Render(pairs[i])+" "+pairs[i+1])
	}
	return strings.Join(parts, dimStyle.Render(" · "))
}

// scopesFrom is the height from which on the scopes are listed.
const scopesFrom = 18

// choices are the answers, with what each scope covers.
func (m *model) choices(width, height int) []string {
	a := &m.ask
	lines := fold([]string{keys("y", m.text("allow once"), "a", m.text("always allow"), "n", m.text("deny"), "c", m.text("cancel"))}, width)
	if height >= scopesFrom {
		lines = append(lines, m.scopes(width)...)
	}
	more := []string{"e", m.text("explain"), "v", m.text("raw")}
	if len(a.diff) > 0 {
		more = append(more, "d", m.text("diff"))
	}
	if len(a.list) > 1 {
		more = append(more, "j/k", m.text("next call"), "Y", m.text("all like it"))
	}
	return append(lines, fold([]string{keys(append(more, "Tab", m.text("write a message"))...)}, width)...)
}

// scopeNames are the entries of the menu.
var scopeNames = []struct {
	key   string
	scope umpire.Scope
	name  string
}{
	{"y", umpire.ScopeOnce, "this time"}, {"s", umpire.ScopeSession, "this session"},
	{"p", umpire.ScopeProject, "this project"}, {"g", umpire.ScopeGlobal, "everywhere"},
}

// scopeLines is about how many lines the menu gives to one scope.
const scopeLines = 3

// scopes list how far an approval may reach, with the exact rule where one is written.
func (m *model) scopes(width int) []string {
	a := &m.ask
	lines := []string{m.text("Allow") + " ▾ / " + m.text("Deny")}
	for _, s := range scopeNames {
		reach := a.card.Reach(umpire.Answer{Scope: s.scope})
		if s.scope != umpire.ScopeOnce && (a.card.Hidden() || a.current().Indeterminate) || len(reach) == 0 {
			continue
		}
		name := m.text("allow " + s.name)
		head := "  " + keyStyle.Render(s.key) + " " + name + strings.Repeat(" ", max(1, 20-lipgloss.Width(name)))
		text := view.List(reach, "; ")
		if len(text) > scopeLines*width { // the key shows all of it before anything is approved
			text = m.textf("%d lines, shown before you confirm", len(reach))
		}
		lines = append(lines, indented(head, paint(dimStyle, []string{text}), width)...)
	}
	if len(a.card.Widths(umpire.ScopeSession)) > 0 && !a.card.Hidden() && !a.current().Indeterminate {
		lines = append(lines, "  "+keyStyle.Render("w")+" "+m.text("allow more: a subcommand, a folder or the tool"))
	}
	return lines
}

// restLines say what would be approved along with the card.
func (m *model) restLines(width int) []string {
	rest := m.rest()
	lines := []string{m.textf("allow once, all of risk %s: %d", m.ask.current().Risk, len(rest))}
	for i := range rest {
		lines = append(lines, "  "+oneLine(subject(rest[i].Tool, rest[i].Input), width-2))
	}
	return append(lines, keys("Y", m.text("allow them"), "Esc", m.text("back")))
}

// waitingElsewhere is the line that says that a card waits while it is not answered.
func (m *model) waitingElsewhere() string {
	return warnStyle.Render(fmt.Sprintf(m.text("%d wait for an answer"), len(m.ask.list))) + dimStyle.Render(" · ") + keys("Tab", m.text("answer"))
}

func trimmed(text string) string { return strings.TrimSpace(typed(text)) }

// typed takes what is not seen out of what a person typed.
func typed(text string) string {
	return strings.Map(func(r rune) rune {
		if view.Visible(string(r)) != string(r) {
			return -1
		}
		return r
	}, text)
}
