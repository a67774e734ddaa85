package console

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/batch"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

const timelinePath = "/timeline"

// Limits on the events read for one page of the timeline: a first window, and all of them.
const (
	firstWindow = 500
	maxRead     = 4000
)

// A callHistory is a page of the timeline: one line for each call, from asked to kept.
type callHistory struct {
	text     *catalogue.Language
	now      time.Time
	home     string // of the person
	asked    historyQuery
	lines    []*line
	sessions map[umpire.SessionID]umpire.Session
	names    map[umpire.SessionID]string
	undoable map[umpire.CallID][]Undoable
	older    int64 // the next older page ends before this event; 0 if this is the last page
}

// A historyQuery selects the lines to show.
type historyQuery struct {
	words   string
	kind    string // one of historyKinds
	session umpire.SessionID
	project umpire.ProjectID
	before  int64 // only events before this one; 0 means all
}

// A line shows the events of one call, or a single event outside of calls.
type line struct {
	events []umpire.Event
	typed  string // its command or path, as the agent wrote it
}

// historyKinds are the filters by kind of event, in the order of the menu.
var historyKinds = []struct {
	name  string
	label string
	kinds []umpire.EventKind
}{
	{"", "everything", nil},
	{"asked", "asked a person", []umpire.EventKind{umpire.EventPermissionAsked}},
	{"denied", "denied", []umpire.EventKind{umpire.EventPermissionRejected}},
	{"unasked", "ran unasked", []umpire.EventKind{umpire.EventPermissionBypassedByRule, umpire.EventCallRanUnasked}},
	{"refused", "ran although it was not allowed", []umpire.EventKind{umpire.EventCallRanRefused}},
	{"kept", "kept", []umpire.EventKind{umpire.EventEffectsKept}},
}

// readHistoryQuery reads the query of a page.
func readHistoryQuery(r *http.Request) (q historyQuery, err error) {
	form := r.URL.Query()
	q = historyQuery{
		words: strings.TrimSpace(form.Get("q")), kind: form.Get("kind"),
		session: umpire.SessionID(form.Get("session")), project: umpire.ProjectID(form.Get("project")),
	}
	if text := form.Get("before"); text != "" {
		if q.before, err = strconv.ParseInt(text, 10, 64); err != nil || q.before < 0 {
			return q, umpire.Errorf("before %q: want the number of an event: %w", text, umpire.ErrInvalid)
		}
	}
	return q, nil
}

// address returns the path of the page with the same filters that ends before an event.
func (q historyQuery) address(before int64) string {
	pairs := []string{
		"q", q.words, "kind", q.kind, "session", string(q.session), "project", string(q.project),
	}
	if before > 0 {
		pairs = append(pairs, "before", strconv.FormatInt(before, 10))
	}
	return timelinePath + "?" + encodeQuery(pairs...)
}

// showTimeline shows the timeline, the latest first.
func (c *Console) showTimeline(w http.ResponseWriter, r *http.Request) {
	q, err := readHistoryQuery(r)
	if err != nil {
		sendRefusal(w, r, statusOf(err), err)
		return
	}
	h := &callHistory{text: textOf(r), home: c.config.Home, now: c.now(), asked: q}
	if err := c.readHistory(r.Context(), h); err != nil {
		sendRefusal(w, r, statusOf(err), err)
		return
	}
	if originOf(r).remote {
		h.undoable = nil
	}
	c.showPage(w, r, timelinePath, h.text.Of("Timeline"), h.draw())
}

// readHistory reads events backwards until a page is full.
func (c *Console) readHistory(ctx context.Context, h *callHistory) error {
	all, err := c.readLater(ctx, &h.asked)
	if err != nil {
		return err
	}
	later := len(all) // these only complete earlier lines
	from := h.asked.before
	for size := int64(firstWindow); ; size *= 2 {
		window, next, err := c.readWindow(ctx, &h.asked, from, size)
		if err != nil {
			return err
		}
		all, from = append(window, all...), next
		h.lines = h.asked.choose(all, len(all)-later, h.text)
		if from == 0 || len(h.lines) > pageSize || len(all)-later >= maxRead {
			break
		}
	}
	if h.older = from; len(h.lines) > pageSize {
		h.lines = h.lines[:pageSize]
		h.older = h.lines[pageSize-1].events[0].Seq
	}
	h.sessions, h.names = map[umpire.SessionID]umpire.Session{}, map[umpire.SessionID]string{}
	for _, l := range h.lines {
		l.typed = view.SubjectOf(inputOf(ctx, c.config.Gate, l))
		id := l.events[0].Session
		if _, known := h.sessions[id]; known || id == "" {
			continue
		}
		s, err := c.config.Gate.Sessions().Get(ctx, id)
		if h.sessions[id] = s; err == nil { // of a deleted session only the id remains
			h.names[id] = c.tasks.nameSession(ctx, &s, nameAgent(&s))
		}
	}
	h.undoable, err = c.config.Undoable()
	return err
}

// askedInput returns the input of a call if a person was asked about it, or nil.
func (l *line) askedInput() json.RawMessage {
	for i := range l.events {
		if decoded, err := batch.Decode(l.events[i]); err == nil {
			if asked, ok := decoded.Detail.(batch.Asked); ok {
				return asked.Input
			}
		}
	}
	return nil
}

// inputOf returns the input of a line's call, with secrets masked, or nil if it is gone.
func inputOf(ctx context.Context, calls umpire.Submitter, l *line) json.RawMessage {
	e := &l.events[0]
	if input := l.askedInput(); input != nil || e.Call == "" || e.Batch == "" {
		return input
	}
	b, err := calls.Batch(ctx, e.Session, e.Batch)
	if of := b.Call(e.Call); err == nil && of != nil {
		return of.Input
	}
	return nil
}

// readLater reads the events after the page: they complete its lines.
func (c *Console) readLater(ctx context.Context, q *historyQuery) ([]umpire.Event, error) {
	if q.before == 0 {
		return nil, nil
	}
	return c.config.Gate.Events(ctx, umpire.Filter{
		Project: q.project, Session: q.session, After: q.before - 1, Limit: firstWindow,
	})
}

// readWindow reads about size events before one, and returns the end of the next window, or 0 if
// this was the last. Event numbers have gaps, so a window may hold fewer events.
func (c *Console) readWindow(
	ctx context.Context, q *historyQuery, before, size int64,
) (events []umpire.Event, next int64, err error) {
	filter := umpire.Filter{Project: q.project, Session: q.session}
	if before == 0 {
		filter.Last = int(size)
		events, err = c.config.Gate.Events(ctx, filter)
		if len(events) == int(size) {
			next = events[0].Seq
		}
		return events, next, err
	}
	filter.After = max(0, before-1-size)
	filter.Limit = int(size)
	events, err = c.config.Gate.Events(ctx, filter)
	events = slices.DeleteFunc(events, func(e umpire.Event) bool { return e.Seq >= before })
	if filter.After > 0 {
		next = filter.After + 1
	}
	return events, next, err
}

// choose builds lines from events, the latest first, and omits those that do not match the query. A
// line must begin among the first events.
func (q *historyQuery) choose(events []umpire.Event, first int, text *catalogue.Language) []*line {
	type callKey struct {
		session umpire.SessionID
		call    umpire.CallID
	}
	calls := map[callKey]*line{}
	var lines []*line
	for i, e := range events {
		key := callKey{e.Session, e.Call}
		of := calls[key]
		switch {
		case e.Call != "" && of != nil:
			of.events = append(of.events, e)
			continue
		case i >= first, e.Call == "" && !standaloneKinds[e.Kind], stepTexts[e.Kind] == "":
			continue
		}
		of = &line{events: []umpire.Event{e}}
		lines = append(lines, of)
		if e.Call != "" {
			calls[key] = of
		}
	}
	slices.Reverse(lines)
	return slices.DeleteFunc(lines, func(l *line) bool { return !q.wants(l, text) })
}

func (q *historyQuery) wants(l *line, text *catalogue.Language) bool {
	for _, k := range historyKinds {
		if k.name != q.kind || k.kinds == nil {
			continue
		}
		if !slices.ContainsFunc(l.events, func(e umpire.Event) bool { return slices.Contains(k.kinds, e.Kind) }) {
			return false
		}
	}
	if q.words == "" {
		return true
	}
	tool, accesses, reason := l.subject(text, view.Folders{})
	e := &l.events[0]
	all := strings.ToLower(strings.Join([]string{
		tool, accesses, string(l.askedInput()), reason, e.Agent, string(e.Session), string(e.Call),
	}, "\n"))
	for word := range strings.FieldsSeq(strings.ToLower(q.words)) {
		if !strings.Contains(all, word) {
			return false
		}
	}
	return true
}

// subject returns the tool of a line, its accesses, and the reason for the decision.
func (l *line) subject(text *catalogue.Language, in view.Folders) (tool, accesses, reason string) {
	for i := range l.events {
		e := &l.events[i]
		tool = cmp.Or(tool, view.Visible(e.Tool))
		if why := view.Visible(text.Reason(e.Reason)); e.Kind == umpire.EventPermissionRejected || e.Call == "" {
			reason = cmp.Or(why, reason)
		}
		if accesses == "" && len(e.Accesses) > 0 {
			var why string
			accesses, why = describeAccesses(e.Accesses, text, in)
			reason = cmp.Or(reason, why)
		}
	}
	return tool, accesses, reason
}

// foldersOf returns the folders to which the paths of a session are relative.
func (h *callHistory) foldersOf(id umpire.SessionID) view.Folders {
	return view.Folders{Root: h.sessions[id].Root, Home: h.home}
}

// object returns the command or path of a line as the agent wrote it, or else its accesses. It is safe to show.
func (h *callHistory) object(l *line) string {
	_, accesses, _ := l.subject(h.text, h.foldersOf(l.events[0].Session))
	first, more, _ := strings.Cut(strings.TrimSpace(l.typed), "\n")
	if more != "" {
		first += " …"
	}
	return cmp.Or(view.Visible(first), accesses)
}

// describeAccesses describes the accesses of a call, and says what the worst of them do.
func describeAccesses(accesses []umpire.Access, text *catalogue.Language, in view.Folders) (object, reason string) {
	var about []string
	for _, a := range accesses {
		a.Target = in.Target(&a)
		about = append(about, view.AccessText(&a, text))
	}
	worst := slices.MinFunc(accesses, func(a, b umpire.Access) int { return cmp.Compare(a.Verdict, b.Verdict) })
	said := view.Headline(&umpire.Decision{Verdict: worst.Verdict, Accesses: accesses}, in, text)
	return view.Visible(strings.Join(about, "; ")), said
}

// standaloneKinds are the events that get a separate line when they do not belong to a call.
var standaloneKinds = map[umpire.EventKind]bool{
	umpire.EventSessionOpened: true, umpire.EventSessionEnded: true, umpire.EventModeChanged: true,
	umpire.EventGrantCreated: true, umpire.EventGrantRevoked: true, umpire.EventRulesChanged: true,
	umpire.EventRulesDegraded: true, umpire.EventEffectsKept: true, umpire.EventUndone: true, umpire.EventPruned: true,
	umpire.EventSecretLeased: true, umpire.EventSecretRevoked: true, umpire.EventSecretUsed: true,
}

// stepTexts names the events that a line shows.
var stepTexts = map[umpire.EventKind]string{
	umpire.EventPermissionAsked: "asked a person", umpire.EventPermissionApproved: "approved",
	umpire.EventPermissionRejected: "denied", umpire.EventPermissionBypassedByRule: "ran unasked",
	umpire.EventCallRanUnasked: "ran unasked", umpire.EventCallRanRefused: "ran although it was not allowed",
	umpire.EventCallStarted: "started", umpire.EventCallFinished: "ended", umpire.EventTrialRan: "tried first",
	umpire.EventCallIndeterminate: "may have run already", umpire.EventEffectsConflicted: "in conflict",
	umpire.EventEffectsKept: "kept", umpire.EventEffectsDiscarded: "discarded", umpire.EventSecretUsed: "secret used",
	umpire.EventSessionOpened: "session opened", umpire.EventSessionEnded: "session ended",
	umpire.EventModeChanged: "mode changed", umpire.EventGrantCreated: "grant given", umpire.EventUndone: "undone",
	umpire.EventGrantRevoked: "grant revoked", umpire.EventRulesChanged: "rules changed",
	umpire.EventRulesDegraded: "rules degraded", umpire.EventPruned: "session removed",
	umpire.EventSecretLeased: "secret leased", umpire.EventSecretRevoked: "lease ended",
}

// stepClasses are the style classes of steps that stand out.
var stepClasses = map[umpire.EventKind]string{
	umpire.EventPermissionAsked: "medium", umpire.EventPermissionApproved: "low",
	umpire.EventPermissionRejected: "high", umpire.EventCallRanRefused: "high",
	umpire.EventCallIndeterminate: "high", umpire.EventEffectsConflicted: "high", umpire.EventRulesDegraded: "high",
}

// steps returns the events of a line that add something to those before them.
func (l *line) steps() []umpire.Event {
	denied := false
	return slices.DeleteFunc(slices.Clone(l.events), func(e umpire.Event) bool {
		denied = denied || e.Kind == umpire.EventPermissionRejected
		return stepTexts[e.Kind] == "" || e.Kind == umpire.EventGrantCreated && e.Call != "" ||
			e.Kind == umpire.EventCallFinished && denied
	})
}

// course returns the steps that a row names: the start of a call and its good end go without saying.
func (l *line) course() []umpire.Event {
	steps := l.steps()
	return slices.DeleteFunc(slices.Clone(steps), func(e umpire.Event) bool {
		var ended umpire.Result
		_ = json.Unmarshal(e.Data, &ended) // an unreadable one is shown
		return len(steps) > 1 && (e.Kind == umpire.EventCallStarted && steps[0].Kind != e.Kind ||
			e.Kind == umpire.EventCallFinished && ended.Status == umpire.ResultOK &&
				len(ended.Reached)+len(ended.Refused) == 0)
	})
}

// describeStep describes one event of a line, with its outcome and its author.
func (h *callHistory) describeStep(e *umpire.Event) string {
	said := h.text.Of(stepTexts[e.Kind])
	if e.Kind == umpire.EventPermissionApproved && e.Scope != nil {
		said = view.Bracketed(said, h.text.Of(e.Scope.String()))
	} else if outcome := view.Outcome(e, h.text); outcome != "" {
		said = view.Bracketed(said, outcome)
	}
	if e.Actor != "" {
		said += " " + fmt.Sprintf(h.text.Of("by %s"), view.Visible(e.Actor))
	}
	return said
}
