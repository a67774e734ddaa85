package view

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// A LastHour counts what happened in the hour before Now. Events are added in their order, those of before
// that hour too: they say which calls had been asked about. Its zero value counts everything.
type LastHour struct {
	Now time.Time

	Unasked, Kept, Approved, Denied int

	why   umpire.Phrase // of the latest denial
	asked map[callName]bool
}

// A callName names a call: agents number theirs anew in each session.
type callName struct {
	session umpire.SessionID
	call    umpire.CallID
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

// Text says it in one line, with why the latest denial was. It is safe to show.
func (h *LastHour) Text(text *catalogue.Language) string {
	format := text.Of("last hour: %d ran unasked, %d tried and kept, %d approved, %d denied")
	said := fmt.Sprintf(format, h.Unasked, h.Kept, h.Approved, h.Denied)
	if h.why != "" {
		said = Bracketed(said, Visible(text.Reason(h.why)))
	}
	return said
}

// ProjectName is the name of the folder of a project's sessions, else the project's short id. It is not escaped.
func ProjectName(id umpire.ProjectID, root string) string {
	if root != "" {
		return filepath.Base(root)
	}
	return id.Short()
}
