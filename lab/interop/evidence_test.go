package interop

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire/internal/host"
)

var update = flag.Bool("update", false, "write the golden files and the table of docs/hosts.md again")

// readTable reads the lab's table of a host.
func readTable(h *host.Host) (hostTable, error) {
	text, err := os.ReadFile(filepath.Join("testdata", h.Name, "matrix.txt"))
	if err != nil {
		return hostTable{}, err
	}
	return parseTable(string(text))
}

// TestDrivenHostsHaveTables: a host is called driven only where the lab has written a table of
// that release, in which every promise is kept but for the holes that its data declares.
func TestDrivenHostsHaveTables(t *testing.T) {
	t.Parallel()
	hosts := slices.Clone(host.Hosts)
	for _, d := range drivers {
		if h := host.Find(d.Name); !slices.Contains(hosts, h) {
			hosts = append(hosts, h)
		}
	}
	for _, h := range hosts {
		table, err := readTable(h)
		switch {
		case h.Evidence != host.Driven:
			if err == nil {
				t.Errorf("%s has a table, and is not called driven", h.Name)
			}
			continue
		case err != nil:
			t.Errorf("%s: %v", h.Name, err)
			continue
		case table.Version != h.Version, table.Title != h.Title, len(table.Rows) != len(cells):
			t.Errorf("%s %s has the table of %s %s", h.Title, h.Version, table.Title, table.Version)
			continue
		}
		for i, row := range table.Rows {
			if complaint := cells[i].Complaint(h, row); row.Cell != cells[i].Name || complaint != "" {
				t.Errorf("%s, %s: %s", h.Name, row.Cell, complaint)
			}
		}
	}
}

// TestHostsPage: the table of docs/hosts.md is that of the tables.
func TestHostsPage(t *testing.T) {
	t.Parallel()
	const begin, end = "<!-- table: go -C lab test ./interop -update -->\n", "<!-- end of the table -->"
	page := filepath.Join("..", "..", "docs", "hosts.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatal("the page has no place for the table")
	}
	want := before + begin + pageTable(t) + end + after
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("docs/hosts.md differs; run with -update (-want +got):\n%s", diff)
	}
}

// pageTable is the table of all hosts that were driven.
func pageTable(t *testing.T) string {
	t.Helper()
	head, line := "| |", "|---|"
	rows := make([]string, len(cells))
	for i := range cells {
		rows[i] = "| " + cells[i].Name + " |"
	}
	for _, d := range drivers {
		h := host.Find(d.Name)
		table, err := readTable(h)
		if err != nil {
			t.Fatal(err)
		}
		head += fmt.Sprintf(" %s %s, %s |", table.Title, table.Version, table.Date)
		line += "---|"
		for i, row := range table.Rows {
			with := string(row.With)
			if row.With != cells[i].Want && row.With != none && cells[i].Hole(h, row) != "" {
				with = "**" + with + "**"
			}
			if row.Alone == row.With && row.With != none {
				with += ", also without umpire"
			}
			rows[i] += " " + with + " |"
		}
	}
	return "\n" + head + "\n" + line + "\n" + strings.Join(rows, "\n") + "\n\n"
}
