package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/fold"
)

// The answers take one line below the card. A key opens a menu with the scopes of an approval.

// A keyHint is a key with its action.
type keyHint struct{ key, does string }

// fitKeys returns one line of keys. It drops hints that do not fit from the end, but keeps the last one,
// which leads to all of them.
func fitKeys(width int, hints []keyHint) string {
	draw := func(hints []keyHint) string {
		var pairs []string
		for _, h := range hints {
			pairs = append(pairs, h.key, h.does)
		}
		return drawKeys(pairs...)
	}
	last := len(hints) - 1
	for n := last; n > 1; n-- {
		if line := draw(append(slices.Clone(hints[:n]), hints[last])); ansi.StringWidth(line) <= width {
			return line
		}
	}
	for n := last; n > 1; n-- {
		if line := draw(hints[:n]); ansi.StringWidth(line) <= width {
			return line
		}
	}
	return cutLine(draw(hints[:1]), width)
}

// answerLines returns the keys of a card: one line, and another for a trial if the first has no room. Their number
// does not change when the card has been read, or reading a row could push it off the screen.
func (a cardView) answerLines(width int) []string {
	lines := a.keyLines(width, a.read)
	for len(lines) < len(a.keyLines(width, !a.read)) {
		lines = append(lines, "")
	}
	return lines
}

func (a cardView) keyLines(width int, read bool) []string {
	hints, try := a.answerKeys(width, read), a.tryHint(read)
	line := fitKeys(width, hints)
	if try.does == "" || a.isLow() || strings.Contains(ansi.Strip(line), try.does) {
		return []string{line}
	}
	needed := fitKeys(width, hints[:slices.Index(hints, try)+1]) // without the key for all keys
	if strings.Contains(ansi.Strip(needed), try.does) {
		return []string{needed}
	}
	return []string{line, drawKeys(try.key, try.does)}
}

// tryHint is the key that has the call tried. To try another agent's command again is an approval.
func (a cardView) tryHint(read bool) keyHint {
	if offer := a.current().TrialOffer; read || offer != umpire.TrialAgain {
		return keyHint{"t", view.NameOffer(offer, a.conf.Text)}
	}
	return keyHint{}
}

// wideKeys is the width from which the line of keys has room for whole phrases.
const wideKeys = 60

// answerKeys returns the keys of a card, the most important first. Until all of the card has been on the
// screen, a hint to scroll replaces the approving keys.
func (a cardView) answerKeys(width int, read bool) []keyHint {
	wide := width >= wideKeys && !a.isLow()
	var hints []keyHint
	switch {
	case !read && wide:
		hints = append(hints, keyHint{a.sayUnread(), ""})
	case !read:
		hints = append(hints, keyHint{"PgDn", "↓"})
	case wide:
		hints = append(hints, keyHint{"y", a.text("allow once")})
		if a.reachesFurther() {
			hints = append(hints, keyHint{"a", a.nameMenu()})
		}
	default:
		hints = append(hints, keyHint{"y", a.conf.Text.Word("verdict", umpire.Allow.String())})
	}
	hints = append(hints, keyHint{"n", a.text("deny")}, keyHint{"c", a.text("cancel")})
	if try := a.tryHint(read); try.does != "" {
		hints = append(hints, try)
	}
	if read && !wide && a.reachesFurther() {
		hints = append(hints, keyHint{"a", a.nameMenu()})
	}
	hints = append(hints, keyHint{"e", a.text("explain")})
	if len(a.list) > 1 {
		hints = append(hints, keyHint{"j/k", a.text("next call")})
	}
	if slices.ContainsFunc(a.folded, func(f fold.Line) bool { return len(f.Lines) > 0 }) {
		hints = append(hints, keyHint{"o", a.text("open the folded parts")})
	}
	if a.conf.Inbox {
		hints = append(hints, keyHint{"q", a.text("leave")})
	} else {
		hints = append(hints, keyHint{"Tab", a.text("write a message")})
	}
	return append(hints, keyHint{"?", a.text("keys")})
}

// nameMenu returns the title of the menu of scopes.
func (a cardView) nameMenu() string {
	forProject := func(o view.Option) bool { return o.Answer.Scope == umpire.ScopeProject }
	if slices.ContainsFunc(a.card.Options(), forProject) {
		return a.text("always allow")
	}
	return a.text("allow for longer")
}

// reachesFurther reports whether the card can be approved for more than once.
func (a cardView) reachesFurther() bool {
	return slices.ContainsFunc(a.card.Options(), func(o view.Option) bool { return o.Answer.Scope > umpire.ScopeOnce })
}

// openMenu shows how far an approval may reach.
func (a *approval) openMenu() tea.Cmd {
	if !(cardView{a}).reachesFurther() {
		return a.always(umpire.ScopeProject) // it says why
	}
	a.step, a.complaint = stepMenu, ""
	return nil
}

// pressMenu takes a key of the menu.
func (a *approval) pressMenu(key string) tea.Cmd {
	switch key {
	case "esc", "n":
		a.step = stepNone
		return nil
	case "y", "s", "p", "g", "w", "a":
		if key == "a" {
			key = "p"
		}
		return a.hold(key)
	case "t":
		if a.openTask != nil {
			a.step = stepNone
			return a.openTask(a.card.Session, a.current().OutsideTask)
		}
	}
	return nil
}

// scopeLines is about how many lines the menu gives to one scope.
const scopeLines = 3

// scopes lists the possible scopes of an approval, with the exact rule if it writes one.
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
	if len(a.card.Widths(umpire.ScopeSession)) > 0 {
		lines = append(lines, "  "+keyStyle.Render("w")+" "+a.text("allow more: a subcommand, a folder or the tool"))
	}
	if a.openTask != nil {
		task := a.text("a task: these calls and others like them, for a while")
		lines = append(lines, "  "+keyStyle.Render("t")+" "+task)
	}
	return append(lines, drawKeys("Esc", a.text("back")))
}

// asksBlind reports whether a card leaves out parts that the person has not been told of yet, and then asks.
func (a *approval) asksBlind(answer umpire.Answer, list []umpire.Pending) bool {
	if a.blind || len(list) != 1 || len(cardView{a}.leftOut()) == 0 {
		return false
	}
	a.step, a.coded = stepBlind, codedAnswer{answer: answer, list: list}
	return true
}

// leftOut names the parts of the call that neither the card nor its diff shows whole.
func (a cardView) leftOut() []string {
	parts := view.LeftOut(a.card, a.edited...)
	if a.cutDiff {
		parts = append(parts, a.text("diff"))
	}
	return parts
}

// confirmBlind handles the key that approves the parts that the card cannot show.
func (a *approval) confirmBlind(key string) tea.Cmd {
	coded := a.coded
	switch key {
	case "Y":
		a.blind, a.step, a.coded = true, stepNone, codedAnswer{}
		return a.answerAll(coded.answer, coded.list)
	case "esc", "n":
		a.step, a.coded = stepNone, codedAnswer{}
	}
	return nil
}

// blindLines lists the parts that the card leaves out.
func (a cardView) blindLines(width int) []string {
	said := a.textf("Not shown in full: %s", view.List(a.leftOut(), ", "))
	return append(paintLines(badStyle, foldLines([]string{said}, width)),
		drawKeys("Y", a.text("approve without seeing it"), "Esc", a.text("back")))
}
