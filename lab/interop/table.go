package interop

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/umpirehq/umpire/internal/host/drive"
)

// A tableRow is the outcome of a cell's call: without umpire, if that was tried, and with it.
type tableRow struct {
	Cell        string
	Alone, With drive.Outcome
}

// A hostTable holds the observations of one release of a host.
type hostTable struct {
	// Title is the product's name, and Date the day, as 2026-11-23.
	Title, Version, Date string
	Rows                 []tableRow
}

// String writes the table in the form that [parseTable] reads. The digest on the first line covers
// everything after it and the title, the release and the day.
func (t *hostTable) String() string {
	head := fmt.Sprintf("%s %s, %s", t.Title, t.Version, t.Date)
	var rows strings.Builder
	for _, r := range t.Rows {
		with := string(r.With)
		if r.Alone != "" {
			with = string(r.Alone) + " > " + with
		}
		fmt.Fprintf(&rows, "%-32s  %s\n", r.Cell, with)
	}
	return fmt.Sprintf("%s, %s: what became of a call without umpire > with umpire.\n\n%s",
		head, digest(head, rows.String()), rows.String())
}

func digest(head, rows string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(head+"\n"+rows)))[:16]
}

// parseTable reads a table, and rejects one that the lab has not written.
func parseTable(text string) (hostTable, error) {
	first, rows, ok := strings.Cut(text, "\n\n")
	head, _, isTable := strings.Cut(first, ": ")
	parts := strings.Split(head, ", ")
	if !ok || !isTable || len(parts) != 3 {
		return hostTable{}, fmt.Errorf("not a table of the lab: %q", first)
	}
	if digest(parts[0]+", "+parts[1], rows) != parts[2] {
		return hostTable{}, fmt.Errorf("the table of %s was changed by hand", parts[0])
	}
	version := strings.LastIndex(parts[0], " ")
	if version < 0 {
		return hostTable{}, fmt.Errorf("not a table of the lab: %q", first)
	}
	t := hostTable{Title: parts[0][:version], Version: parts[0][version+1:], Date: parts[1]}
	for line := range strings.Lines(rows) {
		cell, outcome, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if !ok {
			return hostTable{}, fmt.Errorf("not a table of the lab: %q", line)
		}
		r := tableRow{Cell: cell, With: drive.Outcome(strings.TrimSpace(outcome))}
		if alone, with, ok := strings.Cut(string(r.With), " > "); ok {
			r.Alone, r.With = drive.Outcome(alone), drive.Outcome(with)
		}
		t.Rows = append(t.Rows, r)
	}
	return t, nil
}

// Same reports whether two tables hold the same, ignoring the day.
func (t *hostTable) Same(other *hostTable) bool {
	return t.Title == other.Title && t.Version == other.Version && slices.Equal(t.Rows, other.Rows)
}
