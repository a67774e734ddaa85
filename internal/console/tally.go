package console

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/batch"
)

// Limits on the counted events: their age, and their number.
const (
	tallyTime   = 7 * 24 * time.Hour
	maxTallied  = 20_000
	tallyWindow = 2000
)

// A tally counts the latest events. It reads each event once: first those of the period, and then
// only new ones.
type tally struct {
	read func(ctx context.Context, before, size int64) (events []umpire.Event, next int64, err error)
	list func(ctx context.Context, f umpire.Filter) ([]umpire.Event, error)
	now  func() time.Time

	mu    sync.Mutex
	last  int64 // the number of the last event read, or 0
	begun bool
	facts []fact // the oldest first
}

// A fact is the counted part of one event, or of one call that an event submits.
type fact struct {
	at      time.Time
	kind    umpire.EventKind
	project umpire.ProjectID
	session umpire.SessionID
	call    umpire.CallID
	request umpire.RequestID
	agent   string
	tool    string
	verdict umpire.Verdict
	rule    umpire.RuleID
	person  bool // a person answered
}

// latest returns the facts of the period, the oldest first.
func (t *tally) latest(ctx context.Context) ([]fact, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.update(ctx)
	since := t.now().Add(-tallyTime)
	from := max(0, len(t.facts)-maxTallied)
	for from < len(t.facts) && t.facts[from].at.Before(since) {
		from++
	}
	t.facts = t.facts[from:] // never modify the slice returned before
	return t.facts, err
}

func (t *tally) update(ctx context.Context) error {
	if !t.begun {
		return t.begin(ctx)
	}
	for {
		events, err := t.list(ctx, umpire.Filter{After: t.last, Limit: tallyWindow})
		t.add(events)
		if err != nil || len(events) < tallyWindow {
			return err
		}
	}
}

// begin reads events backwards until they cover the period.
func (t *tally) begin(ctx context.Context) error {
	var windows [][]umpire.Event
	since := t.now().Add(-tallyTime)
	for read, before := 0, int64(0); read < maxTallied; {
		events, next, err := t.read(ctx, before, tallyWindow)
		if err != nil {
			return err
		}
		windows, before = append(windows, events), next
		read += tallyWindow
		if next == 0 || len(events) > 0 && events[0].At.Before(since) {
			break
		}
	}
	for _, events := range slices.Backward(windows) {
		t.add(events)
	}
	t.begun = true
	return nil
}

func (t *tally) add(events []umpire.Event) {
	for i := range events {
		t.facts = appendFacts(t.facts, &events[i])
	}
	t.last = max(t.last, umpire.LastSeq(events))
}

// appendFacts adds the counted parts of an event.
func appendFacts(facts []fact, e *umpire.Event) []fact {
	f := fact{
		at: e.At, kind: e.Kind, project: e.Project, session: e.Session, call: e.Call, request: e.Request,
		agent: e.Agent, tool: e.Tool, rule: e.Rule,
	}
	switch e.Kind { // the other kinds are not counted
	case umpire.EventBatchSubmitted:
		decoded, err := batch.Decode(*e)
		submitted, ok := decoded.Detail.(batch.Submitted)
		if err != nil || !ok {
			return facts // from a later version
		}
		for i := range submitted.Calls {
			c := &submitted.Calls[i]
			f.call, f.tool, f.verdict = c.ID, c.Tool, c.Verdict
			facts = append(facts, f)
		}
		return facts
	case umpire.EventPermissionAsked:
		f.verdict = umpire.Ask
	case umpire.EventPermissionApproved:
		f.verdict, f.person = umpire.Allow, e.Request != ""
	case umpire.EventPermissionRejected:
		f.person = e.Request != "" && (e.Code == umpire.CodeDenied || e.Code == umpire.CodeCancelled)
	case umpire.EventPermissionBypassedByRule, umpire.EventCallRanUnasked, umpire.EventCallStarted:
		f.verdict = umpire.Allow
	default:
		return facts
	}
	return append(facts, f)
}
