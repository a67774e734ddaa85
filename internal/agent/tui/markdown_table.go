package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// A model lays its tables out with bars, and seldom in columns.

// layOutTable aligns lines that form a table, if its columns fit the width. All other lines
// stay unchanged.
func layOutTable(lines []string, width int) []string {
	if len(lines) < 2 || !isRuler(lines[1]) {
		return lines
	}
	right := rightAligned(cellsOf(lines[1]))
	var rows [][]string
	widths := make([]int, len(right))
	for i, line := range lines {
		row := cellsOf(line)
		if len(row) != len(right) {
			return lines // a bar within a cell, or no table
		}
		for k := range row {
			if i != 1 {
				widths[k] = max(widths[k], stringWidth(row[k]))
			}
		}
		rows = append(rows, row)
	}
	if sumOf(widths)+tableGap*(len(widths)-1) > width {
		return lines
	}
	laid := make([]string, len(rows))
	for i, row := range rows {
		laid[i] = tableRow(row, widths, right, i == 1)
	}
	return laid
}

// tableGap is how wide the bar between two columns is, with its blanks.
const tableGap = 3

func tableRow(row []string, widths []int, right []bool, ruler bool) string {
	parts := make([]string, len(row))
	for k, text := range row {
		blank := strings.Repeat(" ", max(0, widths[k]-stringWidth(text)))
		switch {
		case ruler:
			parts[k] = strings.Repeat("─", widths[k])
		case right[k]:
			parts[k] = blank + text
		default:
			parts[k] = text + blank
		}
	}
	if ruler {
		return dimStyle.Render(strings.Join(parts, "─┼─"))
	}
	return strings.TrimRight(strings.Join(parts, dimStyle.Render(" │ ")), " ")
}

// cellsOf splits a line at its bars, ignoring those at its ends.
func cellsOf(line string) []string {
	line = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|")
	row := strings.Split(line, "|")
	for k := range row {
		row[k] = strings.TrimSpace(row[k])
	}
	return row
}

// isRuler reports whether a line is the ruler below the column names.
func isRuler(line string) bool {
	line = ansi.Strip(line)
	return strings.Contains(line, "-") && strings.Contains(line, "|") && strings.Trim(line, "|:- ") == ""
}

func rightAligned(ruler []string) []bool {
	right := make([]bool, len(ruler))
	for k, text := range ruler {
		text = ansi.Strip(text)
		right[k] = strings.HasSuffix(text, ":") && !strings.HasPrefix(text, ":")
	}
	return right
}

func sumOf(of []int) (total int) {
	for _, n := range of {
		total += n
	}
	return total
}
