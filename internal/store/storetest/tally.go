package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/batch"
	"github.com/umpirehq/umpire/internal/store"
)

// A Tally records the reported outcome of each of a worker's transactions while its store
// was being abused, for a comparison with the stored data. A tally has one worker.
type Tally struct {
	// Session is the worker's own session.
	Session umpire.SessionID

	acknowledged, refused, uncertain []string
	wrong                            []error // errors that say less than they should
	made                             int
}

// Acknowledged returns the number of transactions reported as stored.
func (t *Tally) Acknowledged() int { return len(t.acknowledged) }

// Uncertain returns the number of transactions with an unknown outcome.
func (t *Tally) Uncertain() int { return len(t.uncertain) }

// Work asks a question and answers it, in two transactions, and records their outcomes.
func (t *Tally) Work(ctx context.Context, s *store.Store) {
	id := fmt.Sprintf("%s-%d", t.Session, t.made)
	t.made++
	if t.note(id+" asked", s.Update(ctx, func(tx *store.Tx) error { return t.ask(tx, id) })) {
		t.note(id, s.Update(ctx, func(tx *store.Tx) error { return t.answer(tx, id) }))
	}
}

func (t *Tally) note(id string, err error) (stored bool) {
	switch {
	case err == nil:
		t.acknowledged = append(t.acknowledged, id)
	case errors.Is(err, store.ErrUncertain):
		t.uncertain = append(t.uncertain, id)
	case errors.Is(err, umpire.ErrNotRecorded):
		t.refused = append(t.refused, id)
	default:
		t.refused = append(t.refused, id)
		t.wrong = append(t.wrong, fmt.Errorf("%s: %w", id, err))
	}
	return err == nil
}

// when is the time of all writes.
var when = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// inputSize makes a transaction fill more than one page.
const inputSize = 3000

// ask stores a batch with one question, and the session before the first.
func (t *Tally) ask(tx *store.Tx, id string) error {
	_, err := tx.Sessions.Lock(t.Session)
	if errors.Is(err, umpire.ErrNotFound) {
		err = tx.Sessions.Insert(umpire.Session{ID: t.Session, Project: "p", IsRoot: true, ActiveAt: when})
	}
	if err != nil {
		return err
	}
	call := umpire.BatchCall{
		ID: umpire.CallID(id), Tool: "Bash", ArgsHash: "h", State: umpire.CallAsked, Request: umpire.RequestID(id),
		Round: 1, Effect: umpire.EffectUnknown,
	}
	b := umpire.Batch{ID: umpire.BatchID(id), Session: t.Session, Lane: id, State: umpire.BatchWaiting,
		Calls: []umpire.BatchCall{call}}
	row := store.CallRow{Session: t.Session, Batch: b.ID, ID: call.ID, Tool: "Bash", ArgsHash: "h",
		Input: store.Sealed{Shown: strings.Repeat("x", inputSize)}}
	if err := tx.Batches.Insert(b, 1, []store.CallRow{row}, when); err != nil {
		return err
	}
	err = tx.Asks.Insert(store.AskRow{
		Request: call.Request, Session: t.Session, Batch: b.ID, Call: call.ID, Round: 1, ArgsHash: "h",
		Shown: json.RawMessage("{}"), AskedAt: when,
	})
	if err != nil {
		return err
	}
	return t.leaveTraces(tx, id+" asked")
}

// answer answers the question, writing all tables that an answer affects.
func (t *Tally) answer(tx *store.Tx, id string) error {
	if _, err := tx.Sessions.Lock(t.Session); err != nil {
		return err
	}
	b, err := tx.Batches.Get(t.Session, umpire.BatchID(id))
	if err != nil {
		return err
	}
	err = tx.Answers.Insert(store.AnswerRow{
		Standing: umpire.Standing{Request: umpire.RequestID(id), Choice: umpire.Approve, At: when}, ArgsHash: "h",
	})
	if err != nil {
		return err
	}
	approved := umpire.Event{
		Kind: umpire.EventPermissionApproved, Session: t.Session, Batch: b.ID, Call: b.Calls[0].ID,
		Request: umpire.RequestID(id), At: when,
	}
	resumed := umpire.Event{Kind: umpire.EventBatchResumed, Session: t.Session, Batch: b.ID, At: when}
	err = all(
		func() error { return tx.Batches.Apply(&b, batch.Event{Event: approved}) },
		func() error {
			return tx.Batches.Apply(&b, batch.Event{Event: resumed, Detail: batch.Resumed{Epoch: 1}})
		},
	)
	if err != nil {
		return err
	}
	return t.leaveTraces(tx, id)
}

// leaveTraces writes one transaction's traces to two more tables, to make partial or
// repeated transactions visible.
func (t *Tally) leaveTraces(tx *store.Tx, id string) error {
	if err := tx.Messages.Append(t.Session, store.MessageRow{Role: id, At: when}); err != nil {
		return err
	}
	e := umpire.Event{Kind: umpire.EventNotice, Session: t.Session, Reason: umpire.Verbatim(id), At: when}
	_, err := tx.Events.Append(e)
	return err
}

// Compare returns differences from the stored data: missing acknowledged transactions,
// stored refused ones, partial and repeated ones.
func (t *Tally) Compare(ctx context.Context, s *store.Store) (problems []string, err error) {
	there := map[string]int{}
	err = s.View(ctx, func(tx *store.Tx) error {
		problems, err = t.traces(tx, there)
		return err
	})
	if err != nil {
		return problems, err
	}
	for _, id := range t.acknowledged {
		if there[id] == 0 {
			problems = append(problems, "lost: "+id)
		}
	}
	for _, id := range t.refused {
		if there[id] > 0 {
			problems = append(problems, "said to be not recorded, and it is: "+id)
		}
	}
	for id, n := range there {
		if n > 1 {
			problems = append(problems, "twice: "+id)
		}
	}
	for _, err := range t.wrong {
		problems = append(problems, "the error does not say that nothing was recorded: "+err.Error())
	}
	return problems, nil
}

// traces counts the traces of each transaction, and returns differences between tables.
func (t *Tally) traces(tx *store.Tx, there map[string]int) (problems []string, err error) {
	messages, err := tx.Messages.List(t.Session)
	if err != nil {
		return nil, err
	}
	events, err := tx.Events.List(umpire.Filter{Session: t.Session})
	if err != nil {
		return nil, err
	}
	asks, err := tx.Asks.List(store.AskQuery{Session: t.Session, All: true})
	if err != nil {
		return nil, err
	}
	for _, m := range messages {
		there[m.Role]++
	}
	told := map[umpire.Phrase]int{}
	notices := 0
	for _, e := range events {
		if e.Kind == umpire.EventNotice {
			told[e.Reason]++
			notices++
		}
	}
	for i := range asks {
		id := string(asks[i].Request)
		b, err := tx.Batches.Get(t.Session, umpire.BatchID(id))
		if err != nil {
			return nil, err
		}
		answered := asks[i].State == store.AskAnswered
		if there[id+" asked"] != 1 || answered != (there[id] == 1) || answered != (b.State == umpire.BatchRunning) {
			problems = append(problems, "half a transaction: "+id)
		}
		delete(told, umpire.Verbatim(id+" asked"))
		if answered {
			delete(told, umpire.Verbatim(id))
		}
	}
	if len(told) > 0 || len(messages) != notices {
		problems = append(problems, fmt.Sprintf("half a transaction: %d messages, %d events, events alone: %v",
			len(messages), notices, told))
	}
	return problems, nil
}
