package history

import "github.com/umpirehq/umpire"

// GroupByCall returns the events of each call together, in the order in which the calls began. An event outside of
// calls forms a separate group. An event begins a group only if begins, given its index, returns true.
func GroupByCall(events []umpire.Event, begins func(at int, e *umpire.Event) bool) [][]umpire.Event {
	var groups [][]umpire.Event
	calls := map[Name]int{}
	for i := range events {
		e := &events[i]
		name := Name{e.Session, e.Call}
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
