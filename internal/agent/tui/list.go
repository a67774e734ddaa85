package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/umpirehq/umpire/internal/view"
)

// A list is rows of which one is chosen, as several screens have them.
type list struct {
	title  string
	rows   []string
	at     int
	follow bool // the last row stays chosen when rows are added
}

// set gives the list other rows.
func (l *list) set(rows []string) {
	if l.follow && l.at >= len(l.rows)-1 {
		l.at = len(rows) - 1
	}
	l.rows = rows
	l.at = max(0, min(l.at, len(rows)-1))
}

// press moves in a list of so many rows.
func (l *list) press(key string, page, rows int) {
	by := map[string]int{
		"j": 1, "down": 1, "k": -1, "up": -1, "pgdown": page, "pgup": -page, "end": rows, "home": -rows,
	}[key]
	l.at = max(0, min(l.at+by, rows-1))
}

// draw shows the rows around the chosen one, below the title and above a hint.
func (l *list) draw(empty, hint string, width, height int) []string {
	lines := []string{boldStyle.Render(cutLine(l.title, width)), ""}
	room := max(1, height-4)
	if len(l.rows) == 0 {
		lines = append(lines, dimStyle.Render(cutLine(empty, width)))
	}
	first := max(0, min(l.at-room/2, len(l.rows)-room))
	for i := first; i < min(first+room, len(l.rows)); i++ {
		mark, style := "  ", plainStyle
		if i == l.at {
			mark, style = "› ", boldStyle
		}
		lines = append(lines, style.Render(cutLine(mark+l.rows[i], width)))
	}
	return append(fillHeight(lines, height-1), dimStyle.Render(cutLine(hint, width)))
}

// leavesScreen reports whether a key leaves a screen.
func leavesScreen(msg tea.Msg) bool {
	k, is := msg.(tea.KeyPressMsg)
	return is && (k.String() == "esc" || k.String() == "q")
}

// drawCells is a row of a table, made safe to show.
func drawCells(widths []int, texts ...string) string {
	var b strings.Builder
	for i, text := range texts {
		text = view.Visible(text)
		if i < len(widths) {
			text = cutLine(text, widths[i])
			text += strings.Repeat(" ", max(0, widths[i]-stringWidth(text))) + "  "
		}
		b.WriteString(text)
	}
	return strings.TrimRight(b.String(), " ")
}
