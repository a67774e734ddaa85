package tui

import "charm.land/lipgloss/v2"

// The styles are sixteen-colour ones: the terminal's owner has chosen those to be seen. The
// terminal library leaves out colours that are not wanted or not supported.
var (
	plainStyle = lipgloss.NewStyle()
	boldStyle  = lipgloss.NewStyle().Bold(true)
	dimStyle   = lipgloss.NewStyle().Faint(true)
	userStyle  = lipgloss.NewStyle().Foreground(lipgloss.Cyan).Bold(true)
	codeStyle  = lipgloss.NewStyle().Foreground(lipgloss.Cyan)
	okStyle    = lipgloss.NewStyle().Foreground(lipgloss.Green)
	warnStyle  = lipgloss.NewStyle().Foreground(lipgloss.Yellow)
	badStyle   = lipgloss.NewStyle().Foreground(lipgloss.Red)
	keyStyle   = lipgloss.NewStyle().Bold(true)
	barStyle   = lipgloss.NewStyle().Reverse(true)
)

// paintLines applies a style to each line separately, because lines can be shown apart.
func paintLines(style lipgloss.Style, lines []string) []string {
	painted := make([]string, len(lines))
	for i, line := range lines {
		painted[i] = style.Render(line)
	}
	return painted
}
