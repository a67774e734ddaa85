package gate

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

// A recordDetail is the detail of an event about a [umpire.TrialRecord].
type recordDetail struct {
	Record  string       `json:"record_id"`
	Undoes  string       `json:"undoes,omitempty"`
	Command string       `json:"command,omitempty"`
	Changes int          `json:"changes"`
	Paths   []string     `json:"paths,omitempty"` // the first of the changed paths
	By      umpire.Actor `json:"by,omitzero"`
}

// errReported means that the timeline already has the event of a record.
var errReported = errors.New("it was already reported")

// reportRecord records on the timeline that a person settled something outside any session. There
// is one event, no matter how many processes report it, or how often.
func (ts *trials) reportRecord(ctx context.Context, s *umpire.TrialSettlement) error {
	r := s.Record
	e := umpire.Event{At: ts.now(), Actor: r.By.Name, Reason: umpire.Verbatim(s.Reason)}
	switch s.State { //nolint:exhaustive // nothing else is settled
	case umpire.TrialKept:
		e.Kind = umpire.EventEffectsKept
		if r.Undoes != "" {
			e.Kind = umpire.EventUndone
		}
	case umpire.TrialDiscarded:
		e.Kind = umpire.EventEffectsDiscarded
	}
	if e.Kind == "" || r.ID == "" || r.Changes < 0 || r.At.IsZero() ||
		s.Session != "" || s.Batch != "" || s.Trial != "" {
		return invalid("record", "want a record_id, a time, and kept or discarded, and no session, batch or trial")
	}
	if len(s.Paths) > maxListedPaths {
		return invalid("paths", "longer than %d", maxListedPaths)
	}
	p, err := ts.Project(r.Dir)
	switch {
	case err == nil:
		e.Project = p.ID
	case !errors.Is(err, umpire.ErrInvalid): // a folder that is gone is still reported
		return err
	}
	if e.Reason == "" {
		e.Reason = umpire.Say("%s; paths changed: %s", r.Command, r.Changes)
	}
	detail := recordDetail{r.ID, r.Undoes, r.Command, r.Changes, s.Paths, r.By}
	err = ts.update(ctx, func(tx *store.Tx) error {
		// Once this is appended, no other process adds to the stream without seeing it.
		stored, err := tx.Events.Append(ts.record(e, detail))
		if err == nil {
			err = refuseReported(tx, &stored, r)
		}
		return err
	})
	if errors.Is(err, errReported) {
		return nil
	}
	return err
}

// Limits of the search for a record's event: backwards from the latest, page by page, until some
// time before the record was made. Clocks of machines differ.
const (
	reportedPage = 200
	clocksDiffer = time.Hour
)

// refuseReported fails if the timeline has an event of the record before one that was just
// appended.
func refuseReported(tx *store.Tx, e *umpire.Event, r *umpire.TrialRecord) error {
	for before := e.Seq; ; {
		page, err := tx.Events.ListBefore(e.Project, before, reportedPage)
		if err != nil {
			return err
		}
		for i := range page {
			seen := &page[i]
			var detail recordDetail
			if seen.Kind == e.Kind && seen.Session == "" && json.Unmarshal(seen.Data, &detail) == nil &&
				detail.Record == r.ID {
				return errReported
			}
			before = seen.Seq
		}
		if len(page) < reportedPage || page[len(page)-1].At.Before(r.At.Add(-clocksDiffer)) {
			return nil
		}
	}
}
