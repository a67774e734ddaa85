package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/batch"
	"github.com/umpirehq/umpire/internal/store"
)

func is(err, want error) bool { return err != nil && errors.Is(err, want) }

// A play takes one batch through events: the fold computes the new state, and the play
// stores the rows that belong to each event.
type play struct {
	tx  *store.Tx
	now umpire.Batch
	at  time.Time
}

// play runs f on a batch of a session in one transaction. A new batch has no state.
func (b *bench) play(s umpire.SessionID, id umpire.BatchID, f func(*play) error) {
	b.Helper()
	if err := b.tryPlay(s, id, f); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) tryPlay(s umpire.SessionID, id umpire.BatchID, f func(*play) error) error {
	at := b.later()
	return b.store.Update(b.Context(), func(tx *store.Tx) error {
		if _, err := tx.Sessions.Lock(s); err != nil {
			return err
		}
		p := &play{tx: tx, at: at, now: umpire.Batch{ID: id, Session: s}}
		stored, err := tx.Batches.Get(s, id)
		if err == nil {
			p.now = stored
		} else if !errors.Is(err, umpire.ErrNotFound) {
			return err
		}
		return f(p)
	})
}

// event applies an event after storing its rows. If the fold refuses the event, no rows
// are stored.
func (p *play) event(
	kind umpire.EventKind, call umpire.CallID, request umpire.RequestID, detail batch.Detail, rows ...func() error,
) error {
	e := batch.Event{Detail: detail, Event: umpire.Event{
		Kind: kind, Session: p.now.Session, Batch: p.now.ID, Call: call, Request: request, At: p.at,
	}}
	if _, err := batch.Apply(p.now, e); err != nil {
		return err
	}
	if err := all(rows...); err != nil {
		return err
	}
	return p.tx.Batches.Apply(&p.now, e)
}

// hash returns the args_hash of a call in tests.
func hash(id umpire.CallID) string { return "hash of " + string(id) }

// A plan is a call to submit.
type plan struct {
	id     umpire.CallID
	state  umpire.CallState
	effect umpire.Effect
}

// submit stores a batch, and a question for each asked call.
func (p *play) submit(lane string, calls ...plan) error {
	session, id := p.now.Session, p.now.ID
	told := batch.Submitted{Lane: lane, Turn: 1}
	var rows []store.CallRow
	for i, c := range calls {
		told.Calls = append(told.Calls, batch.Call{ID: c.id, Tool: "Bash", ArgsHash: hash(c.id), Effect: c.effect,
			State: c.state, Verdict: verdictOf(c.state)})
		rows = append(rows, store.CallRow{
			Session: session, Batch: id, Ordinal: i, ID: c.id, Tool: "Bash", ArgsHash: hash(c.id), Effect: c.effect,
			Input: store.Sealed{Shown: `{}`}, Turn: 1,
		})
	}
	made, err := p.tx.Batches.Submit(batch.Event{Detail: told, Event: umpire.Event{
		Kind: umpire.EventBatchSubmitted, Session: session, Batch: id, At: p.at,
	}}, rows)
	if err != nil {
		return err
	}
	p.now = made
	for _, c := range calls {
		if c.state == umpire.CallAsked {
			if err := p.ask(c.id); err != nil {
				return err
			}
		}
	}
	return nil
}

func verdictOf(s umpire.CallState) umpire.Verdict {
	switch s {
	case umpire.CallAsked:
		return umpire.Ask
	case umpire.CallApproved:
		return umpire.Allow
	case umpire.CallDenied, umpire.CallExecuting, umpire.CallUnknown, umpire.CallSettled, umpire.CallDone:
	}
	return umpire.Deny
}

// question stores a new question about a call.
func (p *play) question(kind umpire.EventKind, id umpire.CallID) error {
	before := *p.now.Call(id)
	round := before.Round + 1
	request := umpire.RequestID(fmt.Sprintf("%s/%s/%d", p.now.Session, id, round))
	withdraw := func() error {
		if before.State != umpire.CallAsked || before.Request == "" {
			return nil
		}
		return p.tx.Asks.Close(before.Request, store.AskWithdrawn)
	}
	return p.event(kind, id, request, nil, withdraw, func() error {
		return p.tx.Asks.Insert(store.AskRow{
			Request: request, Session: p.now.Session, Batch: p.now.ID, Call: id, Round: round, ArgsHash: hash(id),
			Shown: json.RawMessage(`{}`), AskedAt: p.at,
		})
	})
}

func (p *play) ask(id umpire.CallID) error { return p.question(umpire.EventPermissionAsked, id) }

// answer answers the question of a call.
func (p *play) answer(id umpire.CallID, choice umpire.Choice) error {
	request := p.now.Call(id).Request
	if request == "" {
		return fmt.Errorf("call %q was never asked about: %w", id, batch.ErrIllegal)
	}
	kind, code := umpire.EventPermissionApproved, umpire.ReasonCode("")
	if choice != umpire.Approve {
		kind, code = umpire.EventPermissionRejected, umpire.CodeDenied
	}
	return p.event(kind, id, request, nil, func() error {
		return p.tx.Answers.Insert(store.AnswerRow{
			Standing: umpire.Standing{Request: request, Choice: choice, Code: code, At: p.at}, ArgsHash: hash(id),
		})
	})
}

// reject denies a call without a pending question.
func (p *play) reject(id umpire.CallID) error {
	return p.event(umpire.EventPermissionRejected, id, "", nil)
}

func (p *play) resume() error {
	return p.event(umpire.EventBatchResumed, "", "", batch.Resumed{Epoch: p.now.Resumes + 1})
}

// start records that a call runs.
func (p *play) start(id umpire.CallID) error {
	c := p.now.Call(id)
	attempt := c.Attempt + 1
	return p.event(umpire.EventCallStarted, id, "", batch.Started{Attempt: attempt}, func() error {
		return p.tx.Executions.Insert(store.ExecutionRow{
			Session: p.now.Session, Call: id, Attempt: attempt, Effect: c.Effect, At: p.at,
		})
	})
}

// finish stores a call's result.
func (p *play) finish(id umpire.CallID, status umpire.ResultStatus) error {
	if err := p.event(umpire.EventCallFinished, id, "", batch.Finished{Status: status}); err != nil {
		return err
	}
	p.now.Call(id).Result.At = p.at
	return p.tx.Results.Insert(store.ResultRow{Session: p.now.Session, Call: id, Status: status, At: p.at})
}

// lose marks a call's outcome as unknown, and asks about it.
func (p *play) lose(id umpire.CallID) error { return p.question(umpire.EventCallIndeterminate, id) }

func (p *play) cancel() error { return p.event(umpire.EventBatchCancelled, "", "", nil) }

func (p *play) end() error { return p.event(umpire.EventBatchFinished, "", "", nil) }

// deliver claims the results of a batch and delivers them.
func (p *play) deliver() error {
	return p.event(umpire.EventBatchDelivered, "", "", nil,
		func() error { return p.tx.Resumes.Claim(p.now.Session, p.now.ID, 1, p.at) },
		func() error { return p.tx.Resumes.Deliver(p.now.Session, p.now.ID, p.at) },
	)
}

// all runs steps until one fails.
func all(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// ways take call c1, the first of two, to each state.
var ways = map[umpire.CallState]func(*play) error{
	umpire.CallAsked: func(p *play) error { return p.submit("", asked("c1"), approved("c2")) },
	umpire.CallApproved: func(p *play) error {
		return p.submit("", approved("c1"), approved("c2"))
	},
	umpire.CallDenied: func(p *play) error {
		return p.submit("", plan{"c1", umpire.CallDenied, umpire.EffectUnknown}, approved("c2"))
	},
	umpire.CallExecuting: func(p *play) error {
		return all(func() error { return p.submit("", approved("c1"), approved("c2")) },
			func() error { return p.start("c1") })
	},
	umpire.CallUnknown: func(p *play) error {
		return all(
			func() error { return p.submit("", approved("c1"), approved("c2")) },
			func() error { return p.start("c1") }, func() error { return p.lose("c1") },
		)
	},
	umpire.CallSettled: func(p *play) error {
		return all(
			func() error { return p.submit("", approved("c1"), approved("c2")) },
			func() error { return p.start("c1") },
			func() error { return p.lose("c1") }, func() error { return p.answer("c1", umpire.Approve) },
		)
	},
	umpire.CallDone: func(p *play) error {
		return all(
			func() error { return p.submit("", approved("c1"), approved("c2")) },
			func() error { return p.start("c1") }, func() error { return p.finish("c1", umpire.ResultOK) },
		)
	},
}

func asked(id umpire.CallID) plan    { return plan{id, umpire.CallAsked, umpire.EffectUnknown} }
func approved(id umpire.CallID) plan { return plan{id, umpire.CallApproved, umpire.EffectUnknown} }
func pure(id umpire.CallID) plan     { return plan{id, umpire.CallApproved, umpire.EffectPure} }

// Fill adds at least one row to every table with a guarantee.
func Fill(t *testing.T, s *store.Store) {
	t.Helper()
	b := &bench{T: t, store: s, now: when}
	b.session("s")
	b.play("s", "b", func(p *play) error {
		return all(
			func() error { return p.submit("", asked("c1")) }, func() error { return p.try("c1") },
			func() error { return p.report("c1") }, func() error { return p.answer("c1", umpire.Approve) }, p.resume,
			func() error { return p.start("c1") }, func() error { return p.keep("c1") },
			func() error { return p.finish("c1", umpire.ResultOK) }, p.end,
			p.deliver,
		)
	})
	b.update(func(tx *store.Tx) error {
		err1 := tx.Messages.Append("s", store.MessageRow{Role: "user"})
		_, err2 := tx.Events.Append(umpire.Event{Kind: umpire.EventNotice, Session: "s", At: b.now})
		grant := store.GrantRow{ID: "g", Scope: umpire.ScopeSession, Session: "s"}
		return all(func() error { return err1 }, func() error { return err2 },
			func() error { return tx.Grants.Insert(grant) })
	})
}
