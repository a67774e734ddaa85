package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// View draws the screen: the conversation or the screen that covers it, below it the input or
// the answers, and at the bottom the status line.
func (m *model) View() tea.View {
	v := tea.NewView("")
	v.AltScreen = true
	v.WindowTitle = "umpire"
	status := drawStatus(m)
	if m.screen != nil {
		lines := m.screen.draw(m, m.width, m.height-len(status))
		v.SetContent(strings.Join(append(fillHeight(lines, m.height-len(status)), status...), "\n"))
		return v
	}
	bottom, room := m.bottom(), m.room()
	pane, height := m.pane(), room
	if m.onCard() { // the answers are below the card on a screen of any height
		height = min(room, pane.length())
	}
	lines := append(drawQueue(m), fillHeight(pane.draw(room, m.ask.isOpen()), height)...)
	lines = append(lines, bottom...)
	if m.onCard() {
		lines = fillHeight(lines, m.height-len(status))
	}
	if !m.onCard() && m.queue == nil {
		// Input methods open at the cursor.
		if v.Cursor = m.input.Cursor(); v.Cursor != nil {
			v.Cursor.Y += len(lines) - m.input.Height()
		}
	}
	v.SetContent(strings.Join(append(lines, status...), "\n"))
	return v
}

// fillHeight brings lines to a height.
func fillHeight(lines []string, height int) []string {
	lines = lines[:min(len(lines), max(0, height))]
	for len(lines) < height {
		lines = append(lines, "")
	}
	return lines
}

// bottom returns the lines between the conversation and the status line.
func (m *model) bottom() []string {
	if m.onCard() {
		menu := cardView{&m.ask}.menu(m.width)
		if hint := m.hint(); hint != "" || !m.isLow() {
			menu = append([]string{hint}, menu...)
		}
		return menu[:min(len(menu), max(1, m.height-len(drawStatus(m))-2))]
	}
	if m.queue != nil {
		return drawInboxKeys(m)
	}
	var lines []string
	if m.ask.isOpen() {
		lines = append(lines, cardView{&m.ask}.waitingElsewhere())
	}
	return append(append(lines, m.hint()), strings.Split(m.input.View(), "\n")...)
}

// drawStatus draws the status line. On a low screen its place is the card's.
func drawStatus(m *model) []string {
	if m.isLow() && m.onCard() {
		return nil
	}
	if m.queue != nil {
		return drawInboxStatus(m)
	}
	return m.facts.draw(m.base, m.turn.stop != nil)
}

// hint returns the line above the input.
func (m *model) hint() string {
	if m.conf.Now().Before(m.quitAt) {
		return dimStyle.Render(cutLine(m.text("Ctrl+C again quits"), m.width))
	}
	return ""
}

// room returns the number of lines for the conversation.
func (m *model) room() int {
	return max(1, m.height-len(drawQueue(m))-len(drawStatus(m))-len(m.bottom()))
}

// pane is the conversation as it would be drawn now.
func (m *model) pane() *pane {
	return &pane{base: m.base, live: m.turn.live(m.base, m.ask.isOpen()), card: m.ask.cardLines(m.width)}
}

// noteSeen records the lines of the card that are on the screen. Approval needs all bound lines.
func (m *model) noteSeen() {
	if m.ask.card != nil && m.screen == nil && m.width > 0 {
		first, end := m.pane().seenOfCard(m.room())
		m.ask.noteSeen(first, end, m.width)
	}
}
