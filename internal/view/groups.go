package view

import "github.com/umpirehq/umpire"

// A callName names a call: agents restart their numbers in each session.
type callName struct {
	session umpire.SessionID
	call    umpire.CallID
}

// GroupByCall returns the events of each call together, in the order in which the calls began. An event outside of
// calls is a group of its own. Only events for which begins returns true begin a group; it gets their index.
func GroupByCall(events []umpire.Event, begins func(at int, e *umpire.Event) bool) [][]umpire.Event {
	var groups [][]umpire.Event
	calls := map[callName]int{}
	for i := range events {
		e := &events[i]
		name := callName{e.Session, e.Call}
		if group, known := calls[name]; known {
			groups[group] = append(groups[group], *e)
			continue
		}
		if !begins(i, e) {
			continue
		}
		if e.Call != "" {
			calls[name] = len(groups)
		}
		groups = append(groups, []umpire.Event{*e})
	}
	return groups
}
