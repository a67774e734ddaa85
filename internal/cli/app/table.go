package app

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// columnGap is the room between two columns.
const columnGap = 2

// A Table aligns text in columns like text/tabwriter: a tab ends a cell, and a column
// is as wide as its widest cell in adjacent lines. But it measures cells in terminal
// columns: a Chinese character is two columns wide, a colour escape zero.
type Table struct {
	Width int // longer lines are cut; 0 cuts none

	out  io.Writer
	text bytes.Buffer
}

// NewTable is a table that is written to out.
func NewTable(out io.Writer) *Table { return &Table{out: out} }

// Head adds a row of headings, which are translated.
func (t *Table) Head(text *catalogue.Language, heads ...string) {
	cells := make([]string, len(heads))
	for i, head := range heads {
		cells[i] = text.Of(head)
	}
	t.Row(cells...)
}

// Row adds a row.
func (t *Table) Row(cells ...string) { fmt.Fprintln(t, strings.Join(cells, "\t")) }

// Write keeps text until Flush.
func (t *Table) Write(p []byte) (int, error) { return t.text.Write(p) }

// Flush writes the pending lines.
func (t *Table) Flush() error {
	var rows [][]string
	for line := range strings.Lines(t.text.String()) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	t.text.Reset()
	for column := 0; padColumn(rows, column); column++ {
	}
	var lines strings.Builder
	for _, cells := range rows {
		line := strings.Join(cells, "")
		if t.Width > 0 {
			line = ansi.Truncate(line, t.Width, "…")
		}
		lines.WriteString(line + "\n")
	}
	_, err := io.WriteString(t.out, lines.String())
	return err
}

// padColumn brings the cells of a column to one width, wherever lines that have it follow
// each other. It reports whether any line has it. The last cell of a line does not widen its
// column.
func padColumn(rows [][]string, column int) (found bool) {
	for from := 0; from < len(rows); from++ {
		to, width := from, 0
		for ; to < len(rows) && column < len(rows[to])-1; to++ {
			width = max(width, ansi.StringWidth(rows[to][column]))
		}
		for _, cells := range rows[from:to] {
			cells[column] += strings.Repeat(" ", width+columnGap-ansi.StringWidth(cells[column]))
		}
		if to > from {
			from, found = to, true
		}
	}
	return found
}
