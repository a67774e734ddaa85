package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// View draws the screen: the conversation or what stands in front of it, below it what
// is written or answered, and at the bottom the status line.
func (m *model) View() tea.View {
	v := tea.NewView("")
	v.AltScreen = true
	v.WindowTitle = "umpire"
	status := m.status(m.width)
	if m.screen != nil {
		lines := m.screen.draw(m, m.width, m.height-len(status))
		v.SetContent(strings.Join(append(filled(lines, m.height-len(status)), status...), "\n"))
		return v
	}
	bottom := m.bottom()
	room := max(1, m.height-len(status)-len(bottom))
	lines := append(filled(m.conversation(room), room), bottom...)
	if !m.onCard() {
		v.Cursor = m.cursor(len(lines) - m.input.Height())
	}
	v.SetContent(strings.Join(append(lines, status...), "\n"))
	return v
}

// cursor is where the message is written, so that input methods find it.
func (m *model) cursor(above int) *tea.Cursor {
	c := m.input.Cursor()
	if c != nil {
		c.Y += above
	}
	return c
}

// filled brings lines to a height.
func filled(lines []string, height int) []string {
	lines = lines[:min(len(lines), max(0, height))]
	for len(lines) < height {
		lines = append(lines, "")
	}
	return lines
}

// bottom is what stands between the conversation and the status line.
func (m *model) bottom() []string {
	if m.onCard() {
		menu := append([]string{m.hint()}, cardView{&m.ask}.menu(m.width, m.height)...)
		return menu[:min(len(menu), max(1, m.height-statusLines-2))]
	}
	var lines []string
	if m.ask.open() {
		lines = append(lines, m.ask.waitingElsewhere())
	}
	return append(append(lines, m.hint()), strings.Split(m.input.View(), "\n")...)
}

// hint is what stands above where keys go to.
func (m *model) hint() string {
	if m.conf.Now().Before(m.quitAt) {
		return dimStyle.Render(cut(m.text("Ctrl+C again quits"), m.width))
	}
	return ""
}

// room is how many lines the conversation has.
func (m *model) room() int { return max(1, m.height-statusLines-len(m.bottom())) }

// page scrolls the conversation, up or down.
func (m *model) page(up bool) {
	if m.anchored {
		m.anchored, m.scroll = false, max(0, len(m.ask.cardLines(m.width))-m.room())
	}
	step := max(1, m.room()-2)
	if !up {
		step = -step
	}
	back := max(0, m.scroll+step)
	m.scroll = min(back, max(0, len(m.last(m.room()+back))-m.room()))
}

// last are about so many of the last lines of the conversation: of the transcript, of what
// goes on now and of the card.
func (m *model) last(want int) []string {
	lines := append(m.log.tail(m.conf.Text, m.width, want), m.live(m.width)...)
	if card := m.ask.cardLines(m.width); len(card) > 0 {
		lines = append(append(lines, ""), card...)
	}
	return lines
}

// length is how many lines the conversation has.
func (m *model) length() int {
	lines := m.log.length(m.conf.Text, m.width) + len(m.live(m.width))
	if card := len(m.ask.cardLines(m.width)); card > 0 {
		lines += 1 + card
	}
	return lines
}

// conversation are the lines of the conversation that are seen.
func (m *model) conversation(room int) []string {
	back := m.scroll
	if m.anchored {
		back = max(0, len(m.ask.cardLines(m.width))-room)
	}
	lines := m.last(room + back)
	back = min(back, max(0, len(lines)-room))
	seen := lines[max(0, len(lines)-room-back) : len(lines)-back]
	if back > 0 && len(seen) > 1 {
		style := dimStyle
		if m.ask.open() {
			style = warnStyle // of what is asked something is not seen
		}
		seen = append(seen[:len(seen)-1:len(seen)-1], style.Render(cut("↓ "+fmt.Sprintf(m.text("%d more lines, PgDn"), back+1), m.width)))
	}
	return seen
}

// noteSeen remembers how far the card has been on the screen, from its top and without a
// gap. Nothing is approved before its last part that asks was.
func (m *model) noteSeen() {
	a := &m.ask
	read := &a.read
	if a.step == stepConfirm {
		read = &a.readRules
	}
	if a.card == nil || *read || m.screen != nil || m.width == 0 {
		return
	}
	lines, room := m.ask.cardLines(m.width), m.room()
	if a.form != a.seenOf {
		a.seen, a.seenOf = 0, a.form
	}
	back := m.scroll
	if m.anchored {
		back = max(0, len(lines)-room)
	}
	back = min(back, max(0, len(m.last(room+back))-room))
	first, end := len(lines)-back-room, len(lines)-back
	if back > 0 && room > 1 {
		end-- // where it says how many lines follow
	}
	if first <= a.seen {
		a.seen = max(a.seen, end)
	}
	*read = a.seen >= a.pinned
}
