package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// A helpScreen lists commands and keys.
type helpScreen struct{}

func (helpScreen) update(m *model, msg tea.Msg) tea.Cmd {
	if _, isKey := msg.(tea.KeyPressMsg); isKey {
		return m.leave()
	}
	return nil
}

// keyHelp are the keys, with what they do.
var keyHelp = [][2]string{
	{"Enter", "send the message; Alt+Enter begins a new line"},
	{"Esc", "stop what the agent does"},
	{"PgUp/PgDn", "read further up or down"},
	{"Tab", "go from a waiting call to the message, and back"},
	{"y s p g", "allow: once, for the session, as a rule of the project, as a rule everywhere"},
	{"n c", "deny, with a reason if you like; cancel: deny and stop the turn"},
	{"e v d", "explain, raw input, diff"},
	{"j k Y", "next and last call that waits; allow all of the same risk once"},
	{"Ctrl+C", "stop; twice: leave"},
}

func (helpScreen) draw(m *model, width, height int) []string {
	var lines []string
	for _, line := range m.helpText() {
		lines = append(lines, cut(line, width))
	}
	return append(filled(lines, height-1), dimStyle.Render(cut(m.text("any key: back"), width)))
}

// helpText lists commands and keys.
func (m *model) helpText() []string {
	var lines []string
	for _, s := range slashes() {
		lines = append(lines, "  "+padded("/"+s.name+" "+s.words, 16)+m.text(s.about))
	}
	for _, k := range keyHelp {
		lines = append(lines, "  "+padded(k[0], 16)+m.text(k[1]))
	}
	return lines
}

func padded(text string, width int) string {
	return text + strings.Repeat(" ", max(1, width-stringWidth(text)))
}

func (helpScreen) read(m *model) ([]string, bool) { return m.helpText(), true }
