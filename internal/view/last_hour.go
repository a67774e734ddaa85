package view

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// A LastHour counts the events in the hour before Now. Add events in order, including earlier ones, which
// show which calls had been asked about. Its zero value counts all events.
type LastHour struct {
	Now time.Time

	Unasked, Kept, Approved, Denied int

	why   umpire.Phrase // of the latest denial
	asked map[callName]bool
}

// Add counts an event.
func (h *LastHour) Add(e *umpire.Event) {
	call := callName{e.Session, e.Call}
	if e.Kind == umpire.EventPermissionAsked {
		if h.asked == nil {
			h.asked = map[callName]bool{}
		}
		h.asked[call] = true
	}
	if e.At.Before(h.Now.Add(-time.Hour)) {
		return
	}
	switch e.Kind { // the other kinds do not run or answer anything
	case umpire.EventCallStarted, umpire.EventCallRanUnasked:
		if !h.asked[call] {
			h.Unasked++
		}
	case umpire.EventEffectsKept:
		h.Kept++
	case umpire.EventPermissionApproved:
		h.Approved++
	case umpire.EventPermissionRejected:
		h.Denied++
		h.why = e.Reason
	}
}

// Text returns the counts in one line, with the reason of the latest denial. It is safe to show.
func (h *LastHour) Text(text *catalogue.Language) string {
	format := text.Of("last hour: %d ran unasked, %d tried and kept, %d approved, %d denied")
	said := fmt.Sprintf(format, h.Unasked, h.Kept, h.Approved, h.Denied)
	if h.why != "" {
		said = Bracketed(said, Visible(text.Reason(h.why)))
	}
	return said
}

// ProjectName returns the folder name of a project's sessions, or else the project's short id. It is not escaped.
func ProjectName(id umpire.ProjectID, root string) string {
	if root != "" {
		return filepath.Base(root)
	}
	return id.Short()
}

// A callName names a call: agents restart their numbers in each session.
type callName struct {
	session umpire.SessionID
	call    umpire.CallID
}
