package interop

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/host/drive"
)

// Examine plays a cell, first without umpire if that is informative. It fails if the cell could not
// be played.
func (s *subject) Examine(ctx context.Context, c *cell) (row tableRow, err error) {
	row.Cell = c.Name
	if c.alone {
		if row.Alone, err = s.play(ctx, c, false); err != nil {
			return row, fmt.Errorf("without umpire: %w", err)
		}
	}
	row.With, err = s.play(ctx, c, true)
	return row, err
}

func (s *subject) play(ctx context.Context, c *cell, guarded bool) (drive.Outcome, error) {
	dir, err := os.MkdirTemp("", "u-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	model, err := StartModel()
	if err != nil {
		return "", err
	}
	defer model.Close()
	l, err := s.NewLab(dir, model)
	if err != nil {
		return "", err
	}
	if err := l.SetUp(ctx); err != nil {
		return "", err
	}
	if guarded {
		if err := l.Register(ctx); err != nil {
			return "", err
		}
	}
	became, err := c.play(ctx, l)
	if s.Log != nil {
		for id, r := range model.Results() {
			s.Log(id, r)
		}
	}
	return became, err
}

// Complaint returns the problem with a row, or "". A call that runs although umpire promises to
// stop it is excused by a hole declared in the host's data.
func (c *cell) Complaint(h *host.Host, row tableRow) string {
	want := c.want(row)
	if row.With == want || row.With == none || c.Hole(h, row) != "" {
		return ""
	}
	return fmt.Sprintf("%s, want %s", row.With, want)
}

// want returns the outcome that umpire promises for a row.
func (c *cell) want(row tableRow) drive.Outcome {
	if c.likeAlone || c.once && row.With == drive.Blocked && row.Alone == drive.Blocked {
		return row.Alone
	}
	return c.Want
}

// Hole returns the host's hole that explains a row, or "".
func (c *cell) Hole(h *host.Host, row tableRow) string {
	if c.hole == "" || row.With == c.want(row) || !slices.Contains(h.Holes, c.hole) {
		return ""
	}
	return string(c.hole)
}
