package history

import (
	"encoding/json"
	"slices"

	"github.com/umpirehq/umpire"
)

// A SessionPlan lists the calls planned by a session since it entered plan mode. The zero value is
// the plan of a session in another mode.
type SessionPlan struct {
	// Active reports whether the session is in plan mode.
	Active bool
	// Before is the previous mode; nil if the session was opened in plan mode.
	Before *umpire.Mode
	// Calls are the calls that plan mode held back, without duplicates, in their original order.
	Calls []umpire.Planned
}

// A modeData is the event detail for a session's mode.
type modeData struct {
	Mode  *umpire.Mode      `json:"mode"`
	Files map[string]string `json:"files"`
}

// ReadSessionPlan reads the plan out of a session's events. It skips unreadable data.
func ReadSessionPlan(events []umpire.Event) SessionPlan {
	var p SessionPlan
	var mode *umpire.Mode
	for i := range events {
		e := &events[i]
		var detail modeData
		if len(e.Data) > 0 && json.Unmarshal(e.Data, &detail) != nil {
			continue
		}
		switch e.Kind {
		case umpire.EventSessionOpened, umpire.EventSessionResumed, umpire.EventModeChanged:
			if detail.Mode != nil {
				p.enterMode(mode, *detail.Mode)
				mode = detail.Mode
			}
		case umpire.EventPermissionRejected:
			if p.Active && e.Code == umpire.CodePlan {
				p.addPlanned(umpire.Planned{Call: e.Call, Tool: e.Tool, Accesses: e.Accesses, Files: detail.Files})
			}
		}
	}
	return p
}

// enterMode changes from one mode to another.
func (p *SessionPlan) enterMode(from *umpire.Mode, to umpire.Mode) {
	if to != umpire.ModePlan {
		*p = SessionPlan{}
		return
	}
	if !p.Active {
		*p = SessionPlan{Active: true, Before: from}
	}
}

// addPlanned adds a call; a repeated call replaces the earlier one.
func (p *SessionPlan) addPlanned(c umpire.Planned) {
	same := func(o umpire.Planned) bool {
		return o.Tool == c.Tool && plannedTargets(o.Accesses) == plannedTargets(c.Accesses)
	}
	if i := slices.IndexFunc(p.Calls, same); i >= 0 {
		p.Calls[i] = c
		return
	}
	p.Calls = append(p.Calls, c)
}

// plannedTargets returns a comparable form of a call's accesses.
func plannedTargets(accesses []umpire.Access) string {
	text, err := json.Marshal(accesses)
	if err != nil {
		return "" // these types always marshal
	}
	return string(text)
}
