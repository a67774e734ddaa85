package conformance

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
)

// A Row is the outcome of a cell's call: without umpire, if that was tried, and with it.
type Row struct {
	Cell        string
	Alone, With Outcome
}

// A Table holds the observations of one release of a host.
type Table struct {
	// Title is the product's name, and Date the day, as 2026-11-23.
	Title, Version, Date string
	Rows                 []Row
}

// String writes the table in the form that [ParseTable] reads. The digest on the first line covers
// everything after it and the title, the release and the day.
func (t *Table) String() string {
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

// ParseTable reads a table, and rejects one that the lab has not written.
func ParseTable(text string) (Table, error) {
	first, rows, ok := strings.Cut(text, "\n\n")
	head, _, isTable := strings.Cut(first, ": ")
	parts := strings.Split(head, ", ")
	if !ok || !isTable || len(parts) != 3 {
		return Table{}, fmt.Errorf("not a table of the lab: %q", first)
	}
	if digest(parts[0]+", "+parts[1], rows) != parts[2] {
		return Table{}, fmt.Errorf("the table of %s was changed by hand", parts[0])
	}
	version := strings.LastIndex(parts[0], " ")
	if version < 0 {
		return Table{}, fmt.Errorf("not a table of the lab: %q", first)
	}
	t := Table{Title: parts[0][:version], Version: parts[0][version+1:], Date: parts[1]}
	for line := range strings.Lines(rows) {
		cell, outcome, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if !ok {
			return Table{}, fmt.Errorf("not a table of the lab: %q", line)
		}
		r := Row{Cell: cell, With: Outcome(strings.TrimSpace(outcome))}
		if alone, with, ok := strings.Cut(string(r.With), " > "); ok {
			r.Alone, r.With = Outcome(alone), Outcome(with)
		}
		t.Rows = append(t.Rows, r)
	}
	return t, nil
}

// Same reports whether two tables hold the same, ignoring the day.
func (t *Table) Same(other *Table) bool {
	return t.Title == other.Title && t.Version == other.Version && slices.Equal(t.Rows, other.Rows)
}
