package history

import (
	"cmp"
	"slices"
	"time"

	"github.com/umpirehq/umpire"
)

// Unread is the longest time to an answer that suggests that the card was not read.
const Unread = 2 * time.Second

// A Count counts calls and the questions about them. The zero value has counted none.
type Count struct {
	Calls     int `json:"calls"`
	Questions int `json:"questions"` // that a person got, answered or not
	Approved  int `json:"approved"`
	Denied    int `json:"denied"`
	Quick     int `json:"quick"` // answered within [Unread]
	Tried     int `json:"tried"`
	Undone    int `json:"undone"` // approved by a person, and taken back later
	// MedianSeconds is the time to half of the answers.
	MedianSeconds float64 `json:"median_seconds"`

	waits []time.Duration
}

// PerHundred returns the questions in 100 calls.
func (c *Count) PerHundred() float64 {
	if c.Calls == 0 {
		return 0
	}
	return 100 * float64(c.Questions) / float64(c.Calls)
}

func (c *Count) countCall(call *Call, undone bool) {
	c.Calls++
	if call.Tried {
		c.Tried++
	}
	approved := false
	for i := range call.Questions {
		q := &call.Questions[i]
		c.Questions++
		wait, answered := q.Wait()
		if !answered {
			continue
		}
		c.waits = append(c.waits, wait)
		if wait < Unread {
			c.Quick++
		}
		if q.Approved {
			c.Approved++
		} else {
			c.Denied++
		}
		approved = approved || q.Approved
	}
	if approved && undone {
		c.Undone++
	}
}

func (c *Count) setMedian() {
	slices.Sort(c.waits)
	if n := len(c.waits); n > 0 {
		c.MedianSeconds = c.waits[n/2].Seconds()
	}
}

// A Group is the calls that share something, such as their agent.
type Group[K comparable] struct {
	Of K `json:"of"`
	Count
}

// A Summary tells how often people were asked, and how they answered. Its groups are in the order of their
// questions, most first.
type Summary struct {
	Count
	Agents   []Group[string]           `json:"agents"`
	Projects []Group[umpire.ProjectID] `json:"projects"`
	Causes   []Group[Cause]            `json:"causes"` // only of calls that a person was asked about
	// Days has the calls of each day with calls in the location of the tally, the first day first.
	Days []Group[string] `json:"days"`
}

// A Tally counts calls from their events, which it must get in the order of the timeline. It remembers a call only
// until it ends.
type Tally struct {
	// Undone reports whether a call was undone; nil means that no call was.
	Undone func(Name) bool
	// In is the location of days; nil means UTC.
	In *time.Location

	open     map[Name]*Call
	all      Count
	agents   map[string]*Count
	projects map[umpire.ProjectID]*Count
	causes   map[Cause]*Count
	days     map[string]*Count
}

// Add adds the next event.
func (t *Tally) Add(e *umpire.Event) {
	if e.Call == "" {
		return
	}
	if t.open == nil {
		t.open = map[Name]*Call{}
		t.agents, t.projects = map[string]*Count{}, map[umpire.ProjectID]*Count{}
		t.causes, t.days = map[Cause]*Count{}, map[string]*Count{}
	}
	name := Name{e.Session, e.Call}
	c := t.open[name]
	if c == nil {
		if !begins[e.Kind] {
			return // an event after the end of its call, such as its undo
		}
		c = &Call{}
		t.open[name] = c
	}
	c.Add(e)
	if ends[e.Kind] || e.Code == umpire.CodeLeftToHost {
		t.count(c)
		delete(t.open, name)
	}
}

// begins are the events that a call can begin with.
var begins = map[umpire.EventKind]bool{
	umpire.EventPermissionAsked: true, umpire.EventPermissionBypassedByRule: true, umpire.EventCallStarted: true,
	umpire.EventCallRanUnasked: true, umpire.EventCallRanRefused: true, umpire.EventPermissionRejected: true,
	umpire.EventCallFinished: true,
}

// ends are the events after which nothing more is counted of a call.
var ends = map[umpire.EventKind]bool{
	umpire.EventCallFinished: true, umpire.EventCallRanUnasked: true, umpire.EventCallRanRefused: true,
}

func (t *Tally) count(c *Call) {
	undone := t.Undone != nil && t.Undone(c.Name)
	t.all.countCall(c, undone)
	countOf(t.agents, c.Agent).countCall(c, undone)
	countOf(t.projects, c.Project).countCall(c, undone)
	countOf(t.days, c.First.In(cmp.Or(t.In, time.UTC)).Format(time.DateOnly)).countCall(c, undone)
	if len(c.Questions) > 0 {
		countOf(t.causes, c.Cause()).countCall(c, undone)
	}
}

func countOf[K comparable](m map[K]*Count, of K) *Count {
	if m[of] == nil {
		m[of] = &Count{}
	}
	return m[of]
}

// Summary returns the counts, including calls that have not ended. Nothing may be added after it.
func (t *Tally) Summary() Summary {
	for name, c := range t.open {
		t.count(c)
		delete(t.open, name)
	}
	s := Summary{
		Count: t.all, Agents: groups(t.agents, cmp.Compare), Projects: groups(t.projects, cmp.Compare),
		Causes: groups(t.causes, Cause.compare), Days: groups(t.days, cmp.Compare),
	}
	s.setMedian()
	slices.SortFunc(s.Days, func(a, b Group[string]) int { return cmp.Compare(a.Of, b.Of) })
	return s
}

func groups[K comparable](m map[K]*Count, compare func(a, b K) int) []Group[K] {
	list := make([]Group[K], 0, len(m))
	for of, c := range m {
		c.setMedian()
		list = append(list, Group[K]{of, *c})
	}
	slices.SortFunc(list, func(a, b Group[K]) int {
		return cmp.Or(cmp.Compare(b.Questions, a.Questions), cmp.Compare(b.Calls, a.Calls), compare(a.Of, b.Of))
	})
	return list
}

// A Cause is the part of a call that asked: a program by its name or its row of the tables, a host or tool by its
// name, or a kind of change of files at a kind of place.
type Cause struct {
	Kind  umpire.AccessKind `json:"kind"`
	Place umpire.Place      `json:"place,omitzero"`
	Name  string            `json:"name,omitempty"`
}

func (c Cause) compare(d Cause) int {
	return cmp.Or(cmp.Compare(c.Name, d.Name), cmp.Compare(c.Kind, d.Kind), cmp.Compare(c.Place, d.Place))
}

// Cause returns the access with the highest risk of those that did not run by themselves. It is the zero value if the
// events name none.
func (c *Call) Cause() Cause {
	var worst *umpire.Access
	for i := range c.accesses() {
		a := &c.Decided.Accesses[i]
		if a.Verdict != umpire.Allow && (worst == nil || a.Risk > worst.Risk) {
			worst = a
		}
	}
	if worst == nil {
		return Cause{}
	}
	cause := Cause{Kind: worst.Kind, Place: worst.Place}
	switch worst.Kind {
	case umpire.KindExec:
		cause.Name = cmp.Or(worst.Table, worst.Program)
	case umpire.KindNetwork, umpire.KindInvoke:
		cause.Name = worst.Target
	case umpire.KindRead, umpire.KindWrite, umpire.KindDelete, umpire.KindUnknown:
	}
	return cause
}

func (c *Call) accesses() []umpire.Access {
	if c.Decided == nil {
		return nil
	}
	return c.Decided.Accesses
}
