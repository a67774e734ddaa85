//go:build interop

package interop

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/host/drive"
)

// cellLimit bounds a cell, which is played twice at most; most take ten seconds.
const cellLimit = 2 * time.Minute

// TestHosts plays each cell with each host, and compares the outcomes with a table. Every host
// stops the calls that umpire promises to stop, except for the holes declared in the host's data. With -short,
// only the cells that users play with umpire doctor are played.
func TestHosts(t *testing.T) {
	t.Parallel()
	for _, d := range drivers {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			h := host.Find(d.Name)
			if h == nil {
				t.Skip("umpire does not know this host yet")
			}
			table := hostTable{Title: h.Title, Version: d.Version, Date: time.Now().Format(time.DateOnly)}
			subject := newSubject(t, d.Name)
			var mu sync.Mutex
			t.Run("cells", func(t *testing.T) {
				for i := range cells {
					c := &cells[i]
					if testing.Short() && !slices.Contains(playedByUsers, c.Name) {
						continue
					}
					t.Run(c.Name, func(t *testing.T) {
						t.Parallel()
						row := examineCell(t, *subject, c, h)
						mu.Lock()
						defer mu.Unlock()
						table.Rows = append(table.Rows, row)
					})
				}
			})
			if !t.Failed() && len(table.Rows) == len(cells) {
				compareTable(t, filepath.Join("testdata", d.Name, "matrix.txt"), &table)
			}
		})
	}
}

// playedByUsers are the cells that umpire doctor plays too.
var playedByUsers = []string{"allow", "deny", "late", "missing"}

func examineCell(t *testing.T, s subject, c *cell, h *host.Host) tableRow {
	ctx, cancel := context.WithTimeout(t.Context(), cellLimit)
	defer cancel()
	s.Log = func(call string, r drive.Result) { t.Logf("%s: %.300q", call, r.Text) }
	row, err := s.Examine(ctx, c)
	t.Logf("figure: %s, %s: %s > %s %s", h.Name, c.Name, row.Alone, row.With, c.Hole(h, row))
	if err != nil {
		t.Error(err)
	}
	if complaint := c.Complaint(h, row); complaint != "" {
		t.Error(complaint)
	}
	return row
}

// compareTable compares a table with the recorded one, ignoring the date, or writes it.
func compareTable(t *testing.T, name string, table *hostTable) {
	t.Helper()
	at := func(r tableRow) int {
		return slices.IndexFunc(cells, func(c cell) bool { return c.Name == r.Cell })
	}
	slices.SortFunc(table.Rows, func(a, b tableRow) int { return at(a) - at(b) })
	if *update {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	written, err := parseTable(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if !table.Same(&written) {
		t.Errorf("%s differs; run with -update when that is right (-want +got):\n%s", name, cmp.Diff(&written, table))
	}
}
