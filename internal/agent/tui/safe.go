package tui

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/umpirehq/umpire/internal/view"
)

// Limits on the shown part of one text. The end is always shown, because a long
// harmless text may hide a harmful end.
const (
	longHead = 60_000 // bytes from the beginning
	longTail = 20_000 // bytes from the end
)

// clipLong omits the middle of a very long text, and says how many bytes are missing.
func clipLong(text string) string {
	if len(text) <= longHead+longTail+100 { // clipped text is not clipped again
		return text
	}
	left := len(text) - longHead - longTail
	return strings.ToValidUTF8(text[:longHead], "") +
		fmt.Sprintf("\n[... %d bytes left out ...]\n", left) + strings.ToValidUTF8(text[len(text)-longTail:], "")
}

// safeLines makes text of any origin safe to show, and returns its lines. The middle of a long text is left out.
func safeLines(text string) []string { return visibleLines(clipLong(text)) }

// visibleLines makes text of any origin safe to show, and returns all its lines.
func visibleLines(text string) []string {
	all := strings.Split(strings.TrimRight(text, "\r\n"), "\n")
	for i, line := range all {
		all[i] = view.Visible(strings.ReplaceAll(strings.TrimSuffix(line, "\r"), "\t", "    "))
	}
	return all
}

// oneLine makes a text safe to show on one line of a width. Its end is left out.
func oneLine(text string, width int) string {
	return cutLine(view.Visible(clipLong(text)), width)
}

// cutLine cuts a line of the program itself at a width.
func cutLine(line string, width int) string {
	return ansi.Truncate(line, max(0, width), "…")
}

// hyphen replaces hyphens while a line is wrapped, because an option broken at a hyphen
// would be misread. Safe text never contains it.
const hyphen = "\ue000"

// foldLines wraps lines at a width, between words if possible.
func foldLines(lines []string, width int) []string {
	var folded []string
	for _, line := range lines {
		if ansi.StringWidth(line) <= width {
			folded = append(folded, line)
			continue
		}
		whole := strings.ReplaceAll(line, "-", hyphen)
		broken := strings.ReplaceAll(lipgloss.Wrap(whole, max(1, width), ""), hyphen, "-")
		folded = append(folded, strings.Split(broken, "\n")...)
	}
	return folded
}

// indentLines folds lines behind a prefix; the ones after the first get blanks as wide.
func indentLines(first string, lines []string, width int) []string {
	wide := ansi.StringWidth(first)
	folded := foldLines(lines, width-wide)
	for i := range folded {
		if i == 0 {
			folded[i] = first + folded[i]
		} else {
			folded[i] = strings.Repeat(" ", wide) + folded[i]
		}
	}
	return folded
}

// stringWidth is how many columns a text takes.
func stringWidth(text string) int { return ansi.StringWidth(text) }
