package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// A helpScreen lists commands and keys.
type helpScreen struct {
	at   int // the line at the top
	most int // the maximum of at
}

func (s *helpScreen) update(m *model, msg tea.Msg) tea.Cmd {
	k, isKey := msg.(tea.KeyPressMsg)
	if !isKey {
		return nil
	}
	by, moves := map[string]int{
		"j": 1, "down": 1, "k": -1, "up": -1, "pgdown": m.height / 2, "pgup": -m.height / 2,
	}[k.String()]
	if !moves || s.most == 0 {
		m.screen = nil
		writes := m.queue == nil && !m.onCard() && k.String() != "q"
		if writes && strings.TrimSpace(k.Text) != "" { // the next message begins with it
			return m.pressInput(k)
		}
		return nil
	}
	s.at = max(0, min(s.at+by, s.most))
	return nil
}

// keyHelp lists the keys with their actions.
var keyHelp = [][2]string{
	{"Enter", "send the message; Alt+Enter begins a new line"},
	{"Esc", "stop the agent"},
	{"Up/Down", "recall an earlier message"},
	{"PgUp/PgDn", "scroll up or down"},
	{"Tab", "switch between a waiting call and the message"},
	{"y s p g", "allow: once, for the session, as a rule of the project, as a rule everywhere"},
	{"a", "show how far each of these reaches"},
	{"Space", "scroll in a card; you can allow it after you have seen all of it"},
	{"n c", "deny, with an optional reason; cancel: deny and stop the turn"},
	{"e v d o", "explain, raw input, fields beside the diff, folded parts"},
	{"j k Y", "next and previous waiting call; allow all of the same risk once"},
	{"Ctrl+C", "clear the message, or stop; twice: quit"},
}

func (s *helpScreen) draw(m *model, width, height int) []string {
	var lines []string
	for _, line := range helpText(m.base) {
		lines = append(lines, cutLine(line, width))
	}
	hint := m.text("any key: back")
	if s.most = max(0, len(lines)-height+1); s.most > 0 {
		hint = m.text("j/k: read on · any other key: back")
	}
	s.at = min(s.at, s.most)
	return append(fillHeight(lines[s.at:], height-1), dimStyle.Render(cutLine(hint, width)))
}

// helpText lists commands and keys.
func helpText(b *base) []string {
	var lines []string
	keys := keyHelp
	if b.conf.Inbox {
		keys = inboxHelp
	} else {
		for _, s := range listCommands() {
			lines = append(lines, "  "+padRight("/"+s.name+" "+s.words, 16)+b.text(s.about))
		}
	}
	for _, k := range keys {
		lines = append(lines, "  "+padRight(k[0], 16)+b.text(k[1]))
	}
	return lines
}

func padRight(text string, width int) string {
	return text + strings.Repeat(" ", max(1, width-stringWidth(text)))
}

func (s *helpScreen) readLines(m *model) ([]string, bool) { return helpText(m.base), true }
