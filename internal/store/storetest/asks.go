package storetest

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

func questions(b *bench) {
	b.session("s")
	b.update(func(tx *store.Tx) error { return tx.Sessions.Insert(umpire.Session{ID: "t", Project: "q"}) })
	b.play("s", "b1", func(p *play) error { return p.submit("1", asked("c1"), asked("c2")) })
	b.play("t", "b2", func(p *play) error { return p.submit("2", asked("c3")) })
	b.play("s", "b3", func(p *play) error { return p.submit("3", approved("c4")) })
	full := store.AskRow{
		Request: "full", Session: "s", Batch: "b3", Call: "c4", Round: 1, ArgsHash: hash("c4"), ShownDigest: "d",
		Shown: json.RawMessage(`{"b":1, "a":[]}`), State: store.AskPending, AskedAt: b.later(), ExpiresAt: b.later(),
	}
	b.play("s", "b3", func(p *play) error {
		return all(
			func() error { return p.event(umpire.EventPermissionAsked, "c4", "full", nil) },
			func() error { return p.tx.Asks.Insert(full) },
		)
	})
	b.view(func(tx *store.Tx) error {
		got, err := tx.Asks.Get("full")
		if diff := cmp.Diff(full, got); diff != "" {
			b.Errorf("Ask (-want +got):\n%s", diff)
		}
		return err
	})
	b.play("s", "b1", func(p *play) error { return p.answer("c2", umpire.Approve) })
	for _, c := range []struct {
		query store.AskQuery
		want  string
	}{
		{store.AskQuery{}, "[s/c1/1 t/c3/1 full]"},
		{store.AskQuery{All: true}, "[s/c1/1 s/c2/1 t/c3/1 full]"},
		{store.AskQuery{Session: "s"}, "[s/c1/1 full]"},
		{store.AskQuery{Project: "q"}, "[t/c3/1]"},
		{store.AskQuery{Project: "q", Session: "s"}, "[]"},
		{store.AskQuery{Limit: 1}, "[s/c1/1]"},
		{store.AskQuery{After: "s/c1/1"}, "[t/c3/1 full]"},
		{store.AskQuery{After: "s/c1/1", Limit: 1}, "[t/c3/1]"},
		{store.AskQuery{After: "s/c2/1"}, "[t/c3/1 full]"}, // it is already answered
		{store.AskQuery{After: "s/c1/1", Session: "s"}, "[full]"},
		{store.AskQuery{After: "s/c1/1", All: true}, "[s/c2/1 t/c3/1 full]"},
		{store.AskQuery{After: "full"}, "[]"},
		{store.AskQuery{After: "none"}, "[]"},
		{store.AskQuery{ExpiredBy: full.ExpiresAt}, "[full]"},
		{store.AskQuery{ExpiredBy: full.ExpiresAt.Add(-time.Microsecond)}, "[]"},
	} {
		b.view(func(tx *store.Tx) error {
			found, err := tx.Asks.List(c.query)
			ids := []umpire.RequestID{}
			for i := range found {
				ids = append(ids, found[i].Request)
			}
			if got := fmt.Sprint(ids); got != c.want {
				b.Errorf("Asks(%+v) = %s, want %s", c.query, got, c.want)
			}
			return err
		})
	}
}

// askedCalls lists the calls of one project that were asked about, last first and each once.
func askedCalls(b *bench) {
	b.session("s")
	b.play("s", "b1", func(p *play) error { return p.submit("1", asked("c1"), approved("c2"), asked("c3")) })
	tell := func(project umpire.ProjectID, kind umpire.EventKind, call umpire.CallID) {
		e := umpire.Event{Kind: kind, Session: "s", Project: project, Call: call, At: b.later()}
		b.update(func(tx *store.Tx) error { _, err := tx.Events.Append(e); return err })
	}
	before := b.now
	tell("p", umpire.EventPermissionAsked, "c1")
	tell("p", umpire.EventPermissionAsked, "c1")
	tell("p", umpire.EventCallStarted, "c2")
	tell("other", umpire.EventPermissionAsked, "c2")
	tell("p", umpire.EventPermissionAsked, "gone")
	after := b.now
	tell("p", umpire.EventPermissionAsked, "c3")
	for since, want := range map[time.Time]string{before: "[c3 c1]", after.Add(1): "[c3]", b.later(): "[]"} {
		b.view(func(tx *store.Tx) error {
			calls, err := tx.Asks.ListCalls("p", since)
			ids := []umpire.CallID{}
			for i := range calls {
				ids = append(ids, calls[i].ID)
				if calls[i].Session != "s" || calls[i].Tool != "Bash" || string(calls[i].Input) != `{}` {
					b.Errorf("call %+v", calls[i])
				}
			}
			if got := fmt.Sprint(ids); got != want {
				b.Errorf("since %s: %s, want %s", since, got, want)
			}
			return err
		})
	}
}

// ListsPending checks that the cost of reading the questions of one session, or of none,
// depends only on the result: it must be the same next to ten questions of other sessions
// and next to many, a multiple of a thousand. It counts allocations, so no other test may run meanwhile.
func ListsPending(t *testing.T, fresh func(testing.TB) Database, beside int) {
	b := &bench{T: t, fresh: fresh, db: fresh(t), now: time.Date(2026, 3, 4, 5, 6, 7, 8000, time.UTC)}
	b.store = b.open()
	b.session("own")
	b.play("own", "b", func(p *play) error { return p.submit("", asked("own1"), asked("own2")) })
	costs := map[int][2]float64{}
	for _, others := range []int{10, beside} {
		b.fillPending(others)
		costs[others] = [2]float64{b.allocates(store.AskQuery{Session: "own"}, 2),
			b.allocates(store.AskQuery{Session: "none"}, 0)}
	}
	for i, few := range costs[10] {
		if many := costs[beside][i]; many > 1.5*few+50 {
			t.Errorf("%.0f allocations with 10 questions in other sessions, %.0f with %d", few, many, beside)
		}
	}
	b.view(func(tx *store.Tx) error {
		asking, err := tx.Asks.ListSessions("")
		if len(asking) != 1+beside/pendingEach+1 {
			t.Errorf("%d sessions ask", len(asking))
		}
		return err
	})
}

// pendingEach is the number of questions in each of the other sessions.
const pendingEach = 1000

// fillPending adds questions in other sessions.
func (b *bench) fillPending(others int) {
	for others > 0 {
		id := umpire.SessionID(b.name("other"))
		b.session(id)
		var calls []plan
		for range min(pendingEach, others) {
			calls = append(calls, asked(umpire.CallID(b.name("c"))))
		}
		b.play(id, "b", func(p *play) error { return p.submit("", calls...) })
		others -= pendingEach
	}
}

// allocates counts the allocations of reading questions, and checks the number of questions.
func (b *bench) allocates(q store.AskQuery, want int) float64 {
	return testing.AllocsPerRun(10, func() {
		b.view(func(tx *store.Tx) error {
			found, err := tx.Asks.List(q)
			if len(found) != want {
				b.Errorf("%d questions for %+v, want %d", len(found), q, want)
			}
			return err
		})
	})
}

func firstAnswer(b *bench) {
	b.session("s")
	b.play("s", "b", func(p *play) error { return p.submit("", asked("c1"), asked("c2")) })
	first := store.AnswerRow{
		Standing: umpire.Standing{
			Request: "s/c1/1", Choice: umpire.Refuse, Scope: umpire.ScopeSession, Reason: "because",
			Code: umpire.CodeDenied, Actor: "me", At: b.later(),
		},
		ArgsHash: hash("c1"), Channel: "cli", PolicyRevision: "r1",
	}
	b.update(func(tx *store.Tx) error { return tx.Answers.Insert(first) })
	second := first
	second.Choice = umpire.Approve
	b.refuse(store.ErrConflict, func(tx *store.Tx) error { return tx.Answers.Insert(second) })
	b.view(func(tx *store.Tx) error {
		got, err := tx.Answers.Get("s/c1/1")
		if diff := cmp.Diff(first, got); diff != "" {
			b.Errorf("Answer (-want +got):\n%s", diff)
		}
		a, err2 := tx.Asks.Get("s/c1/1")
		if a.State != store.AskAnswered {
			b.Errorf("the question is %s", a.State)
		}
		if _, err := tx.Answers.Get("s/c2/1"); !is(err, umpire.ErrNotFound) {
			b.Errorf("Answer of a question that waits: %v", err)
		}
		return all(func() error { return err }, func() error { return err2 })
	})
	// Closing as answered again is allowed; any other closing is too late.
	b.update(func(tx *store.Tx) error { return tx.Asks.Close("s/c1/1", store.AskAnswered) })
	b.refuse(store.ErrConflict, func(tx *store.Tx) error { return tx.Asks.Close("s/c1/1", store.AskWithdrawn) })
	b.refuse(store.ErrConflict, func(tx *store.Tx) error { return tx.Asks.Close("s/c2/1", store.AskAnswered) })
	b.update(func(tx *store.Tx) error { return tx.Asks.Close("s/c2/1", store.AskWithdrawn) })
	b.refuse(store.ErrConflict, func(tx *store.Tx) error { return tx.Asks.Close("s/c2/1", store.AskWithdrawn) })
	b.refuse(umpire.ErrNotFound, func(tx *store.Tx) error { return tx.Asks.Close("none", store.AskWithdrawn) })
}

func answerBound(b *bench) {
	b.session("s")
	b.play("s", "b", func(p *play) error { return p.submit("", asked("c1")) })
	answer := func(request umpire.RequestID, hash string) func(*store.Tx) error {
		return func(tx *store.Tx) error {
			return tx.Answers.Insert(store.AnswerRow{Standing: umpire.Standing{Request: request, Choice: umpire.Approve,
				At: b.now}, ArgsHash: hash})
		}
	}
	b.refuse(store.ErrConflict, answer("s/c1/1", "of other arguments"))
	b.refuse(store.ErrConflict, answer("none", hash("c1")))
	b.update(func(tx *store.Tx) error { return tx.Asks.Close("s/c1/1", store.AskWithdrawn) })
	b.refuse(store.ErrConflict, answer("s/c1/1", hash("c1")))
	// The call is asked about again, in another round.
	b.play("s", "b", func(p *play) error {
		return p.tx.Asks.Insert(store.AskRow{Request: "again", Session: "s", Batch: "b", Call: "c1", Round: 2,
			ArgsHash: hash("c1"), AskedAt: b.now})
	})
	b.refuse(store.ErrConflict, answer("s/c1/1", hash("c1")))
	b.update(answer("again", hash("c1")))
}

func deniedInTurn(b *bench) {
	b.session("s")
	answer := func(id umpire.CallID, choice umpire.Choice, code umpire.ReasonCode) {
		b.Helper()
		b.play("s", umpire.BatchID("b of "+id), func(p *play) error { return p.submit(string(id), asked(id)) })
		b.update(func(tx *store.Tx) error {
			return tx.Answers.Insert(store.AnswerRow{
				Standing: umpire.Standing{Request: umpire.RequestID("s/" + id + "/1"), Choice: choice, Code: code,
					Reason: umpire.Verbatim("said of " + string(id)), At: b.later()},
				ArgsHash: hash(id),
			})
		})
	}
	answer("denied", umpire.Refuse, umpire.CodeDenied)
	answer("cancelled", umpire.Cancel, umpire.CodeCancelled)
	answer("timeout", umpire.Refuse, umpire.CodeTimeout)
	answer("auto", umpire.Refuse, umpire.CodeAutoDeny)
	answer("approved", umpire.Approve, "")
	// A person who reports that a lost call did not run has not denied it.
	b.play("s", "lost", func(p *play) error {
		return all(
			func() error { return p.submit("lost", approved("lost")) }, func() error { return p.start("lost") },
			func() error { return p.lose("lost") }, func() error { return p.answer("lost", umpire.Refuse) },
		)
	})
	for _, c := range []struct {
		session umpire.SessionID
		turn    int64
		call    umpire.CallID
		found   bool
	}{
		{"s", 1, "denied", true},
		{"s", 2, "denied", false},
		{"other", 1, "denied", false},
		{"s", 1, "cancelled", false},
		{"s", 1, "timeout", false},
		{"s", 1, "auto", false},
		{"s", 1, "approved", false},
		{"s", 1, "lost", false},
	} {
		b.view(func(tx *store.Tx) error {
			got, err := tx.Calls.DeniedInTurn(c.session, c.turn, hash(c.call))
			said := umpire.Verbatim("said of denied")
			if c.found && (err != nil || got.Reason != said || got.Choice != umpire.Refuse) ||
				!c.found && !is(err, umpire.ErrNotFound) {
				b.Errorf("Calls.DeniedInTurn(%q, %d, %q) = %+v, %v, want one: %t", c.session, c.turn, c.call, got, err,
					c.found)
			}
			return nil
		})
	}
}
