package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/server"
)

var _ server.Backend = (*fakeGate)(nil)

// A fakeGate answers every call with a value in which every field is set, records its
// arguments, and has a timeline. One question and one batch have a state.
type fakeGate struct {
	mu      sync.Mutex
	fails   map[string]error // by method
	panics  string           // the method that panics
	got     map[string]any   // Check waits for it, if it is set
	blocks  chan struct{}    // Check waits for it, if it is there
	entered chan struct{}    // receives when Check waits
	batch   umpire.Batch
	answer  *umpire.Standing // of the question "r1"
	runners []umpire.Session
	events  []umpire.Event
	changed chan struct{}
	watched chan struct{} // closed when Batch is called for the second time
	asked   int

	pending  []umpire.Pending // oldest first; nil means one filled question
	sessions []umpire.Session // latest activity first; nil means one filled session
	moves    umpire.SessionID // becomes active once a page of sessions was read
}

// fill adds n pending questions, each in its own session.
func (g *fakeGate) fill(n int) {
	began := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for i := range n {
		id, at := umpire.SessionID(fmt.Sprintf("s%05d", i)), began.Add(time.Duration(i/2)*time.Second)
		request := umpire.RequestID(fmt.Sprintf("r%05d", i))
		g.pending = append(g.pending, umpire.Pending{Request: request, Session: id, AskedAt: at})
		g.sessions = append(g.sessions, umpire.Session{ID: id, ActiveAt: at})
	}
	slices.Reverse(g.sessions)
}

// pageOf returns a page after the first match, or the first page.
func pageOf[T any](all []T, begins bool, last func(T) bool, limit int) []T {
	if !begins {
		all = all[slices.IndexFunc(all, last)+1:]
	}
	return slices.Clone(all[:min(limit, len(all))])
}

func newFake() *fakeGate {
	return &fakeGate{
		fails: map[string]error{}, got: map[string]any{}, changed: make(chan struct{}),
		batch: umpire.Batch{ID: "b1", Session: "s1", State: umpire.BatchWaiting},
	}
}

func (g *fakeGate) enter(method string, arg any) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.got[method] = arg
	if g.panics == method {
		panic("secret detail")
	}
	return g.fails[method]
}

func (g *fakeGate) last(method string) any {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.got[method]
}

func answerOf[T any](err error) (T, error) {
	if err != nil {
		var none T
		return none, err
	}
	return filled[T](), nil
}

func (g *fakeGate) Check(ctx context.Context, c umpire.Call) (umpire.Decision, error) {
	err := g.enter("Check", c)
	if g.blocks != nil {
		g.entered <- struct{}{}
		select {
		case <-g.blocks:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	return answerOf[umpire.Decision](err)
}

func (g *fakeGate) Submit(_ context.Context, s umpire.Submission) (umpire.Batch, error) {
	return answerOf[umpire.Batch](g.enter("Submit", s))
}

func (g *fakeGate) Batch(_ context.Context, s umpire.SessionID, b umpire.BatchID) (umpire.Batch, error) {
	if err := g.enter("Batch", [2]string{string(s), string(b)}); err != nil {
		return umpire.Batch{}, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.asked++; g.asked == 2 && g.watched != nil {
		close(g.watched)
	}
	if s != g.batch.Session || b != g.batch.ID {
		return umpire.Batch{}, fmt.Errorf("batch %q of session %q: %w", b, s, umpire.ErrNotFound)
	}
	return g.batch, nil
}

// Await checks the batch again after every change.
func (g *fakeGate) Await(ctx context.Context, s umpire.SessionID, id umpire.BatchID, wait time.Duration) (umpire.Batch, error) {
	timeout := time.After(wait)
	for {
		g.mu.Lock()
		changed := g.changed
		g.mu.Unlock()
		b, err := g.Batch(ctx, s, id)
		if err != nil || b.State != umpire.BatchWaiting {
			return b, err
		}
		select {
		case <-changed:
		case <-timeout:
			return b, nil
		case <-ctx.Done():
			return b, ctx.Err()
		}
	}
}

// Asking returns the session of [filledPending].
func (g *fakeGate) Asking(context.Context, umpire.ProjectID) ([]umpire.SessionID, error) {
	return []umpire.SessionID{filledPending().Session}, nil
}

func (g *fakeGate) Pending(_ context.Context, q umpire.PendingQuery) ([]umpire.Pending, error) {
	if err := g.enter("Pending", q); err != nil {
		return nil, err
	}
	if g.pending == nil {
		return []umpire.Pending{filledPending()}, nil
	}
	last := func(p umpire.Pending) bool { return p.Request == q.After }
	return pageOf(g.pending, q.After == "", last, q.Limit), nil
}

func (g *fakeGate) Resolve(_ context.Context, a umpire.Answer) (umpire.Batch, error) {
	if err := g.enter("Resolve", a); err != nil {
		return umpire.Batch{}, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case a.Request != "r1":
		return umpire.Batch{}, fmt.Errorf("request_id %q: %w", a.Request, umpire.ErrNotFound)
	case a.Choice == "":
		return umpire.Batch{}, fmt.Errorf("answer: missing: %w", umpire.ErrInvalid)
	case g.answer != nil:
		return umpire.Batch{}, &umpire.ResolvedError{Standing: *g.answer}
	}
	g.answer = &umpire.Standing{Request: a.Request, Choice: a.Choice, Scope: a.Scope, Reason: umpire.Verbatim(a.Reason), Actor: a.Actor, At: filledTime}
	g.batch.State = umpire.BatchRunning
	g.append(umpire.Event{Kind: umpire.EventPermissionApproved, Session: "s1"})
	return g.batch, nil
}

func (g fakeTrials) Begin(_ context.Context, r umpire.TrialRequest) (umpire.BegunTrial, error) {
	return answerOf[umpire.BegunTrial](g.enter("BeginTrial", r))
}

func (g fakeTrials) Report(_ context.Context, r umpire.TrialReport) (umpire.Batch, error) {
	return answerOf[umpire.Batch](g.enter("ReportTrial", r))
}

func (g fakeTrials) Settle(_ context.Context, s umpire.TrialSettlement) (umpire.Batch, error) {
	return answerOf[umpire.Batch](g.enter("SettleTrial", s))
}

func (g *fakeGate) Start(_ context.Context, s umpire.Start) (umpire.Started, error) {
	return answerOf[umpire.Started](g.enter("Start", s))
}

func (g *fakeGate) Finish(_ context.Context, r umpire.Result) (umpire.Batch, error) {
	return answerOf[umpire.Batch](g.enter("Finish", r))
}

func (g fakeSessions) Open(_ context.Context, o umpire.Opening) (umpire.Session, error) {
	return answerOf[umpire.Session](g.enter("Open", o))
}

func (g fakeSessions) Continue(_ context.Context, r umpire.Resumption) (umpire.Session, error) {
	return answerOf[umpire.Session](g.enter("Continue", r))
}

func (g fakeSessions) Fork(_ context.Context, s umpire.SessionID, r umpire.Resumption) (umpire.Session, error) {
	r.ID = s
	return answerOf[umpire.Session](g.enter("Fork", r))
}

func (g fakeSessions) Get(_ context.Context, s umpire.SessionID) (umpire.Session, error) {
	session, err := answerOf[umpire.Session](g.enter("Session", s))
	switch {
	case err != nil:
	case s == "gone" || s == "unknown":
		return umpire.Session{}, fmt.Errorf("session %q: %w", s, umpire.ErrNotFound)
	case s == "s1":
		session.Project = "p1"
	}
	return session, err
}

func (g *fakeGate) AddRunner(_ context.Context, s *umpire.Session, runner string) error {
	return g.enter("AddRunner", [2]string{string(s.ID), runner})
}

func (g fakeSessions) List(_ context.Context, q umpire.SessionQuery) ([]umpire.Session, error) {
	if err := g.enter("Sessions", q); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.sessions == nil || len(q.Runners) > 0 {
		return append([]umpire.Session{filled[umpire.Session]()}, g.runners...), nil
	}
	last := func(s umpire.Session) bool { return s.ID == q.After && s.ActiveAt.Equal(q.AfterActiveAt) }
	page := pageOf(g.sessions, q.After == "", last, q.Limit)
	if i := slices.IndexFunc(g.sessions, func(s umpire.Session) bool { return s.ID == g.moves }); i > 0 {
		moved := g.sessions[i]
		moved.ActiveAt = g.sessions[0].ActiveAt.Add(time.Second)
		g.sessions = append([]umpire.Session{moved}, slices.Delete(g.sessions, i, i+1)...)
	}
	return page, nil
}

func (g fakeSessions) SetMode(_ context.Context, m umpire.ModeChange) (umpire.Session, error) {
	return answerOf[umpire.Session](g.enter("SetMode", m))
}

func (g fakeSessions) Latest(_ context.Context, q umpire.LatestQuery) (umpire.Session, error) {
	return answerOf[umpire.Session](g.enter("Latest", q))
}

func (g fakeConversations) Read(_ context.Context, q umpire.ConversationQuery) (umpire.Conversation, error) {
	return answerOf[umpire.Conversation](g.enter("Conversation", q))
}

func (g fakeConversations) Prompt(_ context.Context, p umpire.Prompt) (umpire.Prompted, error) {
	return answerOf[umpire.Prompted](g.enter("Prompt", p))
}

func (g fakeConversations) Compose(_ context.Context, s umpire.SessionID, epoch int64) (umpire.Conversation, error) {
	return answerOf[umpire.Conversation](g.enter("Compose", fmt.Sprint(s, " ", epoch)))
}

func (g fakeConversations) Reply(_ context.Context, r umpire.Reply) (umpire.Session, error) {
	return answerOf[umpire.Session](g.enter("Reply", r))
}

func (g fakeSessions) Renew(_ context.Context, s umpire.SessionID, epoch int64) (time.Time, error) {
	return filledTime, g.enter("Renew", fmt.Sprint(s, " ", epoch))
}

func (g fakeSessions) End(_ context.Context, s umpire.SessionID, reason string) error {
	return g.enter("End", fmt.Sprint(s, " ", reason))
}

func (g fakeSessions) Delete(_ context.Context, s umpire.SessionID) error {
	return g.enter("Delete", s)
}

func (g *fakeGate) Sessions() umpire.SessionKeeper           { return fakeSessions{g} }
func (g *fakeGate) Conversations() umpire.ConversationKeeper { return fakeConversations{g} }
func (g *fakeGate) Trials() umpire.Trier                     { return fakeTrials{g} }
func (g *fakeGate) Tickets() umpire.Ticketer                 { return fakeTickets{g} }
func (g *fakeGate) Rules() umpire.RuleKeeper                 { return fakeRules{g} }
func (g *fakeGate) Grants() umpire.GrantKeeper               { return fakeGrants{g} }

type (
	fakeSessions      struct{ *fakeGate }
	fakeConversations struct{ *fakeGate }
	fakeTrials        struct{ *fakeGate }
	fakeTickets       struct{ *fakeGate }
	fakeRules         struct{ *fakeGate }
	fakeGrants        struct{ *fakeGate }
)

func (g fakeRules) List(_ context.Context, dir string) ([]umpire.Rule, error) {
	if err := g.enter("Rules", dir); err != nil {
		return nil, err
	}
	return []umpire.Rule{filledRule()}, nil
}

func (g fakeRules) Add(_ context.Context, dir string, s umpire.Scope, r umpire.Rule, _ umpire.Actor) (umpire.RuleID, error) {
	return "made", g.enter("AddRule", []any{dir, s, r})
}

func (g fakeRules) Remove(_ context.Context, dir string, s umpire.Scope, id umpire.RuleID, _ umpire.Actor) error {
	return g.enter("RemoveRule", []any{dir, s, id})
}

func (g fakeRules) Status(_ context.Context, dir string) (umpire.RuleStatus, error) {
	return answerOf[umpire.RuleStatus](g.enter("RuleStatus", dir))
}

func (g fakeGrants) List(_ context.Context, dir string) ([]umpire.GrantStatus, error) {
	return []umpire.GrantStatus{{ID: "g", Kind: umpire.GrantSession, Tool: "Edit"}}, g.enter("Grants", dir)
}

func (g fakeGrants) ApproveTask(_ context.Context, a umpire.TaskApproval) ([]umpire.GrantStatus, error) {
	return []umpire.GrantStatus{{ID: "k", Kind: umpire.GrantTask, Task: "k", TaskText: a.Text}}, g.enter("ApproveTask", a)
}

func (g fakeGrants) RecordLease(_ context.Context, l umpire.SecretLease) error {
	return g.enter("RecordLease", l)
}

func (g fakeGrants) RecordUse(_ context.Context, u umpire.SecretUses) error {
	return g.enter("RecordUse", u)
}

func (g fakeGrants) Revoke(_ context.Context, r umpire.Revocation) ([]umpire.GrantStatus, error) {
	return nil, g.enter("Revoke", r)
}

func (g fakeRules) Trust(_ context.Context, c umpire.TrustChange) ([]string, error) {
	return []string{"f"}, g.enter("Trust", c.Dir)
}

// watching returns a channel that is closed once a request holds the batch.
func (g *fakeGate) watching() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.watched = make(chan struct{})
	return g.watched
}

// tell appends events to the timeline.
func (g *fakeGate) tell(events ...umpire.Event) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, e := range events {
		g.append(e)
	}
}

// append numbers an event with a gap, like a store. mu must be held.
func (g *fakeGate) append(e umpire.Event) {
	if e.Seq == 0 {
		e.Seq = 3
		if n := len(g.events); n > 0 {
			e.Seq = g.events[n-1].Seq + 3
		}
	}
	g.events = append(g.events, e)
	close(g.changed)
	g.changed = make(chan struct{})
}

func (g *fakeGate) Events(_ context.Context, f umpire.Filter) ([]umpire.Event, error) {
	if err := g.enter("Events", f); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.matching(f), nil
}

func (g *fakeGate) matching(f umpire.Filter) (found []umpire.Event) {
	first, _ := slices.BinarySearchFunc(g.events, f.After+1, func(e umpire.Event, seq int64) int { return int(e.Seq - seq) })
	for _, e := range g.events[first:] {
		wanted := (f.Session == "" || f.Session == e.Session) && (f.Project == "" || f.Project == e.Project)
		if wanted && (f.Before == 0 || e.Seq < f.Before) {
			found = append(found, e)
		}
		if f.Limit > 0 && len(found) == f.Limit {
			break
		}
	}
	if f.Last > 0 {
		return found[max(0, len(found)-f.Last):]
	}
	return found
}

func (g *fakeGate) Watch(ctx context.Context, f umpire.Filter) iter.Seq2[umpire.Event, error] {
	return func(yield func(umpire.Event, error) bool) {
		for {
			g.mu.Lock()
			found, changed := g.matching(f), g.changed
			err := g.fails["Watch"]
			delete(g.fails, "Watch")
			g.mu.Unlock()
			if err != nil {
				yield(umpire.Event{}, err)
				return
			}
			for _, e := range found {
				if !yield(e, nil) {
					return
				}
				f.After = e.Seq
			}
			select {
			case <-changed:
			case <-ctx.Done():
				yield(umpire.Event{}, ctx.Err())
				return
			}
		}
	}
}

var filledTime = time.Date(2026, 3, 4, 5, 6, 7, 891011000, time.UTC)

// freeJSON is the content of fields that may hold any JSON.
const freeJSON = `{"k":[1,"zwei",null,true,{"n":-3.5}],"html":"<&>\u2028"}`

// filled returns a T in which every field visible in JSON has a value other than zero.
func filled[T any]() T {
	var v T
	fill(reflect.ValueOf(&v).Elem(), "value")
	return v
}

// A pending call's extra fields are not visible in its type.
func filledPending() umpire.Pending {
	p := filled[umpire.Pending]()
	p.Extra = map[string]json.RawMessage{"customMeta": json.RawMessage(`{"a":[1,2]}`), "extra": json.RawMessage(`"kept"`)}
	return p
}

// A rule's source is not visible in its own JSON.
func filledRule() umpire.Rule {
	r := filled[umpire.Rule]()
	r.Source, r.File, r.Line = umpire.SourceProject, "/p/.umpire/permissions.json", 7
	return r
}

func fill(v reflect.Value, name string) {
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(filledTime))
		return
	case json.RawMessage:
		v.SetBytes([]byte(freeJSON))
		return
	case fs.FileMode:
		v.SetUint(uint64(fs.ModeSymlink | 0o640))
		return
	case umpire.Choice:
		v.SetString(string(umpire.Refuse))
		return
	}
	switch v.Kind() { //nolint:exhaustive // the others panic
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() && field.Tag.Get("json") != "-" {
				fill(v.Field(i), field.Name)
			}
		}
		if access, ok := reflect.TypeAssert[*umpire.Access](v.Addr()); ok {
			access.Resolved = "where it leads" // visible only under conditions
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), name)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), name)
		fill(v.Index(1), name+" again")
	case reflect.Map:
		element := reflect.New(v.Type().Elem()).Elem()
		fill(element, name)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("key").Convert(v.Type().Key()), element)
	case reflect.String:
		v.SetString("the " + name)
		if width, ok := reflect.TypeAssert[*umpire.Width](v.Addr()); ok {
			*width = umpire.WidthFolder // other words are refused
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1<<52 + int64(len(name)))
	case reflect.Uint8:
		v.SetUint(1)
	default:
		panic(fmt.Sprintf("%s: a field of type %s", name, v.Type()))
	}
}

func TestFilledLeavesNothingOut(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(filled[umpire.Event]())
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatal(err)
	}
	if want := reflect.TypeFor[umpire.Event]().NumField(); len(fields) != want {
		t.Errorf("%d of %d fields are set: %s", len(fields), want, data)
	}
}

func (g fakeTickets) Use(_ context.Context, u umpire.TicketUse) (umpire.Ticket, error) {
	return filled[umpire.Ticket](), g.enter("UseTicket", u)
}

func (g fakeTickets) End(_ context.Context, e umpire.TicketEnd) (umpire.TicketEnded, error) {
	return filled[umpire.TicketEnded](), g.enter("EndTicket", e)
}
