//go:build interop

package interop

import (
	"context"
	"testing"
	"time"

	"github.com/umpirehq/umpire/internal/conformance"
)

// cellLimit bounds a cell; most take about five seconds.
const cellLimit = time.Minute

// TestHosts plays each cell with each host.
func TestHosts(t *testing.T) {
	t.Parallel()
	for _, d := range conformance.Drivers {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			for i := range conformance.Cells {
				c := &conformance.Cells[i]
				t.Run(c.Name, func(t *testing.T) {
					t.Parallel()
					w := newLab(t, d.Name, startModel(t))
					if out, code := w.start("git", "init", "-q"); code != 0 {
						t.Fatalf("git init: %s", out)
					}
					ctx, cancel := context.WithTimeout(t.Context(), cellLimit)
					defer cancel()
					got, err := c.Play(ctx, w.Lab)
					t.Logf("cell %s %s: %s", d.Name, c.Name, got)
					if err != nil {
						t.Error(err)
					}
					if got != c.Want && got != conformance.None {
						r, _ := w.Model.Result("call_1")
						t.Errorf("%s, want %s; the model was told %q", got, c.Want, r.Text)
					}
				})
			}
		})
	}
}
