package gate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/batch"
	"github.com/umpirehq/umpire/internal/store"
)

// Start lets the next call of a batch run, or says what happens instead. The call
// is decided again, for the world may have changed since it was approved; and it is
// stored that it was started before its runner hears of it.
func (g *Gate) Start(ctx context.Context, s umpire.Start) (umpire.Started, error) {
	if s.Session == "" || s.Batch == "" || s.Call == "" {
		return umpire.Started{}, invalid("session_id, batch_id, call_id", "all are needed")
	}
	if err := checkConfinement(s.Sandbox); err != nil {
		return umpire.Started{}, err
	}
	for {
		started, err := g.tryStart(ctx, &s)
		if errors.Is(err, errMoved) && ctx.Err() == nil {
			continue
		}
		return started, err
	}
}

// errMoved says that the call was answered between looking at it and starting it.
var errMoved = errors.New("the call has moved on")

func (g *Gate) tryStart(ctx context.Context, s *umpire.Start) (umpire.Started, error) {
	l, err := g.lookAt(ctx, s)
	if err != nil {
		return umpire.Started{}, err
	}
	g.reached("starting")
	var started umpire.Started
	err = g.step(ctx, s.Session, s.Epoch, func(t *step) error {
		started, err = t.start(l)
		return err
	})
	if isConflict(err) {
		return umpire.Started{}, fmt.Errorf("call %q: %w: %w", s.Call, err, umpire.ErrState)
	}
	if err != nil {
		return umpire.Started{}, err
	}
	g.reached("started")
	return started, nil
}

// A launch is a call that wants to run, decided again.
type launch struct {
	*umpire.Start

	scene    *scene
	seen     umpire.BatchCall // the call as the decision was made for it
	row      store.CallRow
	judged   *judged
	once     string // the grant that the run consumes, "" for none
	approved bool   // a person approved it
	moved    bool   // it would do something else than was shown
	changed  string // which code is not what was shown
	before   json.RawMessage
	position int
	total    int
}

func (g *Gate) lookAt(ctx context.Context, s *umpire.Start) (*launch, error) {
	l := &launch{Start: s}
	var ask store.AskRow
	err := g.peek(ctx, func(tx *store.Tx) (err error) {
		b, err := tx.Batch(s.Session, s.Batch)
		if err != nil {
			return fmt.Errorf("batch %q: %w", s.Batch, err)
		}
		c := b.Call(s.Call)
		if c == nil {
			return fmt.Errorf("call %q of batch %q: %w", s.Call, s.Batch, umpire.ErrNotFound)
		}
		if l.row, err = tx.CallRow(s.Session, s.Call); err != nil {
			return err
		}
		l.seen = *c
		l.position, l.total = l.row.Ordinal+1, len(b.Calls)
		if l.scene, err = g.sceneOf(tx, s.Session, s.Call); err != nil {
			return err
		}
		return l.readAnswer(tx, c, &ask)
	})
	if err != nil {
		return nil, err
	}
	if err := g.complete(l.scene); err != nil {
		return nil, err
	}
	l.scene.sandbox = s.Sandbox
	call, err := g.exactCall(&l.row)
	if err != nil {
		return nil, err
	}
	call.Extra = extraOf(l.row.Extra)
	if l.judged, err = g.judge(l.scene, call); err != nil {
		return nil, err
	}
	if l.approved {
		code := g.codeFiles(&l.judged.decision)
		l.moved = shownDigest(&l.judged.call, &l.judged.decision, code) != ask.ShownDigest
		card := cardOf(&ask)
		l.changed = g.changedSince(&card, &l.judged.decision)
	}
	l.before = snapshot(&l.judged.decision)
	if err := g.findPlanned(ctx, l.scene, []*judged{l.judged}); err != nil {
		return nil, err
	}
	if l.moved || l.judged.state() == umpire.CallAsked {
		l.judged.question = g.ask(l.scene, l.judged, s.Batch, l.position, l.total)
	}
	return l, nil
}

// readAnswer finds the approval that the call runs by, if a person gave one.
func (l *launch) readAnswer(tx *store.Tx, c *umpire.BatchCall, ask *store.AskRow) (err error) {
	if c.Request == "" {
		return nil
	}
	if *ask, err = tx.Ask(c.Request); err != nil {
		return err
	}
	answer, err := tx.Answer(c.Request)
	if errors.Is(err, umpire.ErrNotFound) {
		return nil
	}
	l.approved = err == nil && answer.Choice == umpire.Approve
	if !l.approved {
		return err
	}
	rows, err := tx.Grants(store.GrantQuery{
		Session: l.scene.session.ID, Project: l.scene.session.Project, GitDir: cloneOf(&l.scene.session), Call: c.ID, Now: answer.At,
	})
	for _, row := range rows {
		if row.Scope == umpire.ScopeOnce && row.Call == c.ID {
			l.once = row.ID
		}
	}
	return err
}

// start stores that the call runs, or what stands against it.
func (t *step) start(l *launch) (umpire.Started, error) {
	b, err := t.batch(l.Batch)
	if err != nil {
		return umpire.Started{}, err
	}
	c := b.Call(l.Call)
	if c == nil || c.State != l.seen.State || c.Request != l.seen.Request {
		return umpire.Started{}, errMoved
	}
	ready := c.State == umpire.CallApproved || c.State == umpire.CallExecuting && c.Effect.Repeatable() && l.again(t, c)
	if !ready || b.State != umpire.BatchRunning || b.Cancelled || b.Next() != c {
		return umpire.Started{Batch: *b}, nil
	}
	d := &l.judged.decision
	switch {
	case c.State == umpire.CallExecuting && d.Verdict != umpire.Allow:
		return t.leave(b, l)
	case d.Verdict == umpire.Deny && !l.judged.unasked:
		return t.stop(b, l)
	case l.judged.question != nil:
		return t.askAgain(b, l)
	case d.Verdict == umpire.Allow:
		return t.execute(b, c, l)
	}
	return t.stop(b, l)
}

// leave ends a call that was interrupted and may not run again.
func (t *step) leave(b *umpire.Batch, l *launch) (umpire.Started, error) {
	text := fillIn(unknownText, l.row.Tool, l.Call, "")
	if err := t.finish(b, l.Call, umpire.ResultIndeterminate, l.judged.decision.ReasonCode, text); err != nil {
		return umpire.Started{}, err
	}
	err := t.settle(b)
	return umpire.Started{Decision: l.judged.decision, Batch: *b}, err
}

// again reports whether a call that was started may be started once more: only by
// a runner that took the session over since.
func (l *launch) again(t *step, c *umpire.BatchCall) bool {
	last, err := t.tx.Execution(t.session.ID, c.ID)
	return err == nil && last.Epoch < t.session.Epoch
}

// execute is the promise that the call runs: what comes after it may have happened.
func (t *step) execute(b *umpire.Batch, c *umpire.BatchCall, l *launch) (umpire.Started, error) {
	attempt := c.Attempt + 1
	if l.once != "" && attempt == 1 {
		if err := t.tx.UseGrant(l.once); err != nil {
			return umpire.Started{}, err
		}
	}
	e := t.decided(umpire.EventCallStarted, l.judged)
	e.Call, e.Request, e.Tool, e.Agent, e.State = c.ID, c.Request, c.Tool, l.row.Agent, umpire.StateAllowed
	err := t.tx.InsertExecution(store.ExecutionRow{
		Session: t.session.ID, Call: c.ID, Attempt: attempt, Effect: l.row.Effect, Epoch: t.session.Epoch,
		Runner: l.Runner, Group: l.Group, Before: l.before, At: t.now,
	})
	if err != nil {
		return umpire.Started{}, err
	}
	err = t.apply(b, e, batch.Started{Attempt: attempt, Runner: l.Runner, Epoch: t.session.Epoch})
	if err != nil {
		return umpire.Started{}, err
	}
	t.session.Permission, t.session.Blocked = umpire.StateAllowed, nil
	return umpire.Started{Go: true, Call: l.judged.call, Decision: l.judged.decision, Attempt: attempt, Batch: *b}, nil
}

// askAgain stops the batch: the call asks now, and everything waits again.
func (t *step) askAgain(b *umpire.Batch, l *launch) (umpire.Started, error) {
	q := *l.judged.question
	if l.moved {
		q.card.Code = umpire.CodeChanged
		q.card.Reason = "What the call would do has changed since it was approved: " + cmp.Or(l.changed, q.card.Reason)
	}
	if err := t.put(b, &q, umpire.EventPermissionAsked); err != nil {
		return umpire.Started{}, err
	}
	if l.judged.unasked {
		if err := t.answerNo(b, b.Call(l.Call), umpire.CodeAutoDeny, l.judged.decision.Reason); err != nil {
			return umpire.Started{}, err
		}
	}
	err := t.settle(b)
	return umpire.Started{Decision: l.judged.decision, Batch: *b}, err
}

// stop gives a call that may not run any more its refusal.
func (t *step) stop(b *umpire.Batch, l *launch) (umpire.Started, error) {
	d := &l.judged.decision
	if err := t.deny(b, l.judged, d.ReasonCode, d.Reason); err != nil {
		return umpire.Started{}, err
	}
	err := t.settle(b)
	return umpire.Started{Decision: *d, Batch: *b}, err
}

// Finish stores the result of a call. The first result stands; the same again is
// no error, another one is. A call that waits may be ended by its agent as timed
// out or cancelled, never as done.
func (g *Gate) Finish(ctx context.Context, r umpire.Result) (umpire.Batch, error) {
	if r.Session == "" || r.Batch == "" || r.Call == "" {
		return umpire.Batch{}, invalid("session_id, batch_id, call_id", "all are needed")
	}
	if !knownStatus(r.Status) {
		return umpire.Batch{}, invalid("status", "want ok, error, cancelled or timeout, got %q", r.Status)
	}
	if len(r.Output) > maxOutput {
		return umpire.Batch{}, invalid("output", "larger than %d bytes", maxOutput)
	}
	g.reached("ran")
	sealed, err := g.sealText(resultLabel(r.Session, r.Call), r.Output)
	if err != nil {
		return umpire.Batch{}, err
	}
	var b umpire.Batch
	var s umpire.Session
	ran := false
	err = g.step(ctx, r.Session, r.Epoch, func(t *step) error {
		b, err = t.report(&r, sealed)
		s, ran = t.session, t.ran
		return err
	})
	if isConflict(err) {
		err = fmt.Errorf("call %q: %w: %w", r.Call, err, umpire.ErrState)
	}
	if err != nil {
		return b, err
	}
	g.reached("finished")
	if ran {
		if err := g.ended(ctx, &s, b.Call(r.Call).Tool, &r); err != nil && g.config.Warn != nil {
			g.config.Warn(fmt.Errorf("hooks after call %q: %w", r.Call, err))
		}
	}
	return b, nil
}

// maxOutput bounds what a call's result may hold.
const maxOutput = 4 << 20

// knownStatus: an agent reports what became of a call; a denial is the gate's.
func knownStatus(s umpire.ResultStatus) bool {
	switch s {
	case umpire.ResultOK, umpire.ResultError, umpire.ResultCancelled, umpire.ResultTimeout:
		return true
	case umpire.ResultDenied, umpire.ResultIndeterminate:
		return false
	}
	return false
}

// report takes in what a runner says of a call.
func (t *step) report(r *umpire.Result, output store.Sealed) (umpire.Batch, error) {
	b, err := t.batch(r.Batch)
	if err != nil {
		return umpire.Batch{}, err
	}
	c := b.Call(r.Call)
	if c == nil {
		return umpire.Batch{}, fmt.Errorf("call %q of batch %q: %w", r.Call, r.Batch, umpire.ErrNotFound)
	}
	switch c.State {
	case umpire.CallDone:
		if c.Result != nil && c.Result.Status == r.Status && c.Result.Output == output.Shown {
			return *b, nil // the same report again: its acknowledgement was lost
		}
		return umpire.Batch{}, fmt.Errorf("call %q has its result already: %w", r.Call, umpire.ErrState)
	case umpire.CallAsked:
		if r.Status != umpire.ResultTimeout && r.Status != umpire.ResultCancelled {
			return umpire.Batch{}, fmt.Errorf("call %q waits for a person: %w", r.Call, umpire.ErrState)
		}
		code := umpire.CodeTimeout
		if r.Status == umpire.ResultCancelled {
			code = umpire.CodeCancelled
		}
		err = t.answerNo(b, c, code, r.Output)
	case umpire.CallApproved:
		if r.Status == umpire.ResultOK {
			return umpire.Batch{}, fmt.Errorf("call %q was never started: %w", r.Call, umpire.ErrState)
		}
		err = t.finishSealed(b, c.ID, r.Status, r.Code, output)
	case umpire.CallExecuting:
		t.ran = true
		err = t.finishSealed(b, c.ID, r.Status, r.Code, output)
	case umpire.CallDenied, umpire.CallSettled, umpire.CallUnknown:
		err = fmt.Errorf("call %q is %s: %w", r.Call, c.State, umpire.ErrState)
	}
	if err != nil {
		return umpire.Batch{}, err
	}
	err = t.settle(b)
	return *b, err
}

// finish stores a result that the gate itself gives.
func (t *step) finish(b *umpire.Batch, id umpire.CallID, status umpire.ResultStatus, code umpire.ReasonCode, text string) error {
	sealed, err := t.gate.sealText(resultLabel(t.session.ID, id), text)
	if err != nil {
		return err
	}
	return t.finishSealed(b, id, status, code, sealed)
}

// maxShown is how much of an output the timeline shows.
const maxShown = 2000

func (t *step) finishSealed(b *umpire.Batch, id umpire.CallID, status umpire.ResultStatus, code umpire.ReasonCode, output store.Sealed) error {
	c := b.Call(id)
	e := umpire.Event{
		Kind: umpire.EventCallFinished, Call: id, Request: c.Request, Tool: c.Tool, Code: code, State: umpire.StateAllowed,
	}
	if c.Attempt == 0 {
		e.State = umpire.StateDenied
	}
	detail := batch.Finished{Status: status, Output: beginning(output.Shown, maxShown), Size: len(output.Shown)}
	if err := t.apply(b, e, detail); err != nil {
		return err
	}
	// Whoever gets the batch as this step leaves it reads the same as from the store.
	told := b.Call(id).Result
	told.Output, told.At = output.Shown, t.now
	return t.tx.InsertResult(store.ResultRow{Session: t.session.ID, Call: id, Status: status, Code: code, Output: output, At: t.now})
}

// beginning cuts a text at a character.
func beginning(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && text[limit]&0xC0 == 0x80 {
		limit--
	}
	return text[:limit]
}

// Batch returns a batch as it stands, with secrets masked.
func (g *Gate) Batch(ctx context.Context, s umpire.SessionID, id umpire.BatchID) (b umpire.Batch, err error) {
	err = g.view(ctx, func(tx *store.Tx) error {
		b, err = tx.Batch(s, id)
		return err
	})
	if err != nil {
		return b, fmt.Errorf("batch %q: %w", id, err)
	}
	return b, nil
}
