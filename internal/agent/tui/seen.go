package tui

import (
	"maps"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/fold"
)

// Nothing is approved unseen. Every line of a card that describes the call is bound: no key approves before
// all its rows have been on the screen. A line of the content counts as seen, not a row of the screen. This
// survives a resize, and wrapping at another width cannot count undrawn text.

// A contentLine is a line of a card before it is wrapped.
type contentLine struct {
	part cardPart
	text string
	nth  int // among equal lines of the part
}

// A cardPart distinguishes equal lines of different parts of a card.
type cardPart int

const (
	factsPart  cardPart = iota
	fieldsPart          // the input without a diff
	diffPart
	restPart // the input that the diff does not show
	rulesPart
)

// A rowMark identifies the part of a content line in a row of the card. The zero value marks a row that need
// not be seen.
type rowMark struct {
	line      contentLine
	row, rows int
}

// A cardRows collects the rows of a card.
type cardRows struct {
	width int
	lines []string
	marks []rowMark

	times map[contentLine]int
}

// bind adds a line that must be seen, with the rows that show it at this width.
func (r *cardRows) bind(part cardPart, text string, rows ...string) {
	line := contentLine{part: part, text: text}
	if r.times == nil {
		r.times = map[contentLine]int{}
	}
	r.times[line]++
	nth := r.times[line]
	line.nth = nth
	for i, row := range rows {
		r.lines = append(r.lines, row)
		r.marks = append(r.marks, rowMark{line, i, len(rows)})
	}
}

// addRows adds rows that need not be seen.
func (r *cardRows) addRows(rows ...string) {
	r.lines = append(r.lines, rows...)
	r.marks = append(r.marks, make([]rowMark, len(rows))...)
}

// bindText binds lines of the card, each wrapped and in a style.
func (r *cardRows) bindText(part cardPart, style lipgloss.Style, lines ...string) {
	for _, line := range lines {
		r.bind(part, line, paintLines(style, foldLines([]string{line}, r.width))...)
	}
}

// bindSection binds a section of the card, which is safe to show already. Runs of equal lines are folded.
func (r *cardRows) bindSection(part cardPart, style lipgloss.Style, section string, a *approval) {
	if section == "" {
		return
	}
	r.bindFolds(fold.Equal(strings.Split(strings.TrimRight(section, "\n"), "\n"), a.conf.Text), a.opened,
		func(line string) { r.bind(part, line, paintLines(style, indented(line, r.width))...) })
}

// bindFolds binds folded lines, and adds their contents if folds are open.
func (r *cardRows) bindFolds(folded []fold.Line, open bool, bind func(line string)) {
	for _, f := range folded {
		bind(f.Text)
		if !open {
			continue
		}
		for _, line := range f.Lines {
			r.addRows(paintLines(dimStyle, indented(line, r.width))...)
		}
	}
}

// indented wraps a line behind its own indentation. On a narrow screen the indentation yields to the text.
func indented(line string, width int) []string {
	text := strings.TrimLeft(line, " ")
	deep := min(len(line)-len(text), width/3)
	return indentLines(strings.Repeat(" ", deep), []string{text}, width)
}

// A seenRow is a row of a line that has not been seen whole, at a width.
type seenRow struct {
	contentLine
	width, row int
}

// A seenLines records the lines of one card that have been on the screen.
type seenLines struct {
	whole map[contentLine]bool
	rows  map[seenRow]bool
}

// note records rows that are on the screen.
func (s *seenLines) note(marks []rowMark, width int) {
	if s.whole == nil {
		s.whole, s.rows = map[contentLine]bool{}, map[seenRow]bool{}
	}
	for _, m := range marks {
		if m.rows == 0 || s.whole[m.line] {
			continue
		}
		s.rows[seenRow{m.line, width, m.row}] = true
		s.whole[m.line] = s.allRows(m, width)
	}
}

// allRows reports whether all rows of a line have been seen at one width.
func (s *seenLines) allRows(m rowMark, width int) bool {
	for row := range m.rows {
		if !s.rows[seenRow{m.line, width, row}] {
			return false
		}
	}
	return true
}

// firstUnseen returns the first row of a line that has not been seen whole, or -1.
func (s *seenLines) firstUnseen(marks []rowMark) int {
	for i, m := range marks {
		if m.rows > 0 && !s.whole[m.line] {
			return i
		}
	}
	return -1
}

// A cardID identifies a card by the content that its answer is bound to. New content makes a new card.
type cardID struct {
	request      umpire.RequestID
	version      int
	args, digest string
}

func idOf(p *umpire.Pending) cardID { return cardID{p.Request, p.Version, p.ArgsHash, p.ShownDigest} }

// A reading is how far one card has been read.
type reading struct {
	diff string // that was shown on it
	seen seenLines
	read bool // the whole card, as last shown
}

// The readings of the cards that wait outlast looking at another card.
type readings map[cardID]*reading

// of returns the reading of a card.
func (r *readings) of(p *umpire.Pending) *reading {
	if *r == nil {
		*r = readings{}
	}
	id := idOf(p)
	if (*r)[id] == nil {
		(*r)[id] = &reading{}
	}
	return (*r)[id]
}

// keep drops the readings of cards whose questions are closed.
func (r readings) keep(list []umpire.Pending) {
	waits := map[cardID]bool{}
	for i := range list {
		waits[idOf(&list[i])] = true
	}
	maps.DeleteFunc(r, func(id cardID, _ *reading) bool { return !waits[id] })
}

// noteSeen records the rows of the card that are on the screen.
func (a *approval) noteSeen(first, end, width int) {
	if a.card == nil {
		return
	}
	a.cardLines(width)
	marks := a.drawn.marks
	first, end = max(0, first), min(end, len(marks))
	seen := &a.rulesSeen
	if a.step != stepConfirm {
		seen = &a.readings.of(a.current()).seen
	}
	if first < end {
		seen.note(marks[first:end], width)
	}
	all := seen.firstUnseen(marks) < 0
	if a.step == stepConfirm {
		a.readRules = all
		return
	}
	a.read = all && !a.comparing
	a.readings.of(a.current()).read = a.read
}

// sayUnread says what to do before a key approves.
func (a cardView) sayUnread() string {
	if a.comparing && a.step != stepConfirm {
		return a.text("Wait for the diff before approving")
	}
	return a.text("Scroll to the end before approving (PgDn)")
}

// takesPaging reports whether keys that a field would take read on in the card.
func (s cardStep) takesPaging() bool { return s != stepReason && s != stepRule && s != stepCode }
