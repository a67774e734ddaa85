package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/batch"
	"github.com/umpirehq/umpire/internal/store"
)

// The limits on what an agent may hand in.
const (
	maxCalls   = 200
	maxInput   = 8 << 20
	maxMessage = 16 << 20
	// DefaultMaxPending is how many questions may wait in one session.
	DefaultMaxPending = 100
)

// Submit decides all calls of one message and stores them before any runs. When
// one asks, all wait. Handing in the same again answers with what stands.
func (g *Gate) Submit(ctx context.Context, s umpire.Submission) (umpire.Batch, error) {
	b, _, err := g.handIn(ctx, &s, (*step).submit)
	return b, err
}

// handIn decides the calls, and takes them in within one transaction; a nil batch was
// not taken in. Stored is false when the batch that stands was handed in before.
func (g *Gate) handIn(
	ctx context.Context, s *umpire.Submission, take func(*step, *submission) (*umpire.Batch, error),
) (b umpire.Batch, stored bool, err error) {
	if err := checkSubmission(s); err != nil {
		return umpire.Batch{}, false, err
	}
	leave, err := g.submitting.enter(ctx, submissionKey{s.Session, s.Batch})
	if err != nil {
		return umpire.Batch{}, false, err
	}
	defer leave()
	g.ruling.RLock()
	g.ruling.RUnlock() //nolint:staticcheck // nothing is done in between: it waits for rules on their way
	sub, standing, err := g.prepare(ctx, s)
	if err != nil || standing != nil {
		return batchOf(standing), false, err
	}
	g.reached("judged")
	var taken *umpire.Batch
	err = g.step(ctx, s.Session, s.Epoch, func(t *step) error {
		taken, err = take(t, sub)
		return err
	})
	if isConflict(err) || errors.Is(err, umpire.ErrState) {
		// The same submission may have come twice at once: the first one stands.
		if b, again := g.stands(ctx, s); again == nil && b != nil {
			return *b, false, nil
		}
	}
	if isConflict(err) {
		return umpire.Batch{}, false, fmt.Errorf("batch %q: %w: %w", s.Batch, err, umpire.ErrState)
	}
	if err != nil {
		return umpire.Batch{}, false, err
	}
	if taken == nil {
		return umpire.Batch{}, true, nil
	}
	g.reached("submitted")
	b = *taken
	b.Calls = slices.Clone(b.Calls)
	for i, j := range sub.calls {
		b.Calls[i].Input = json.RawMessage(j.input.Shown)
	}
	return b, true, nil
}

func batchOf(b *umpire.Batch) umpire.Batch {
	if b == nil {
		return umpire.Batch{}
	}
	return *b
}

// checkSubmission refuses what is malformed, and names the field.
func checkSubmission(s *umpire.Submission) error {
	switch {
	case s.Session == "":
		return invalid("session_id", "is missing")
	case s.Batch == "":
		return invalid("batch_id", "is missing")
	case len(s.Calls) == 0 || len(s.Calls) > maxCalls:
		return invalid("calls", "want 1 to %d, got %d", maxCalls, len(s.Calls))
	case len(s.Message) > maxMessage:
		return invalid("message", "larger than %d bytes", maxMessage)
	case len(s.Message) > 0 && !json.Valid(s.Message):
		return invalid("message", "is not JSON")
	}
	if err := umpire.CheckID("batch_id", s.Batch); err != nil {
		return err
	}
	seen := map[umpire.CallID]bool{}
	for i := range s.Calls {
		c := &s.Calls[i]
		field := fmt.Sprintf("calls[%d]", i)
		if err := umpire.CheckID(field+".id", c.ID); err != nil {
			return err
		}
		switch {
		case c.ID == "":
			return invalid(field+".id", "is missing")
		case seen[c.ID]:
			return invalid(field+".id", "%q stands twice", c.ID)
		case c.Tool == "":
			return invalid(field+".tool", "is missing")
		case len(c.Input) > maxInput:
			return invalid(field+".input", "larger than %d bytes", maxInput)
		case len(c.Input) > 0 && !json.Valid(c.Input):
			return invalid(field+".input", "is not JSON")
		case c.Dir != "":
			if err := checkDir(field+".cwd", c.Dir); err != nil {
				return err
			}
		}
		seen[c.ID] = true
	}
	return checkConfinement(s.Sandbox)
}

// invalid is an error about one field.
func invalid(field, format string, args ...any) error {
	return fmt.Errorf("%s: %s: %w", field, fmt.Sprintf(format, args...), umpire.ErrInvalid)
}

// A submission is one that is decided and ready to be stored.
type submission struct {
	*umpire.Submission

	scene   *scene
	calls   []*judged
	message store.Sealed
}

// stands returns the batch of a submission that was handed in before, or nil.
func (g *Gate) stands(ctx context.Context, s *umpire.Submission) (standing *umpire.Batch, err error) {
	err = g.peek(ctx, func(tx *store.Tx) error {
		standing, err = standingBatch(tx, s)
		return err
	})
	return standing, err
}

func standingBatch(tx *store.Tx, s *umpire.Submission) (*umpire.Batch, error) {
	b, err := tx.Batch(s.Session, s.Batch)
	if errors.Is(err, umpire.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &b, sameCalls(&b, s)
}

// prepare decides the calls, or returns the batch that stands already.
func (g *Gate) prepare(ctx context.Context, s *umpire.Submission) (*submission, *umpire.Batch, error) {
	var sc *scene
	var standing *umpire.Batch
	err := g.peek(ctx, func(tx *store.Tx) error {
		var err error
		if standing, err = standingBatch(tx, s); standing != nil || err != nil {
			return err
		}
		sc, err = g.sceneOf(tx, s.Session, "")
		return err
	})
	if err != nil || standing != nil {
		return nil, standing, err
	}
	if err := g.complete(sc); err != nil {
		return nil, nil, err
	}
	if err := sc.override(s); err != nil {
		return nil, nil, err
	}
	sub := &submission{Submission: s, scene: sc}
	if err := g.judgeAll(ctx, sub); err != nil {
		return nil, nil, err
	}
	if len(s.Message) > 0 {
		if sub.message, err = g.sealJSON(messageLabel(s.Session), s.Message); err != nil {
			return nil, nil, err
		}
	}
	return sub, nil, nil
}

// sameCalls refuses a batch id that comes again with other calls.
func sameCalls(b *umpire.Batch, s *umpire.Submission) error {
	same := len(b.Calls) == len(s.Calls)
	for i := range s.Calls {
		if !same {
			break
		}
		hash, err := batch.ArgsHash(s.Calls[i].Tool, s.Calls[i].Input)
		same = err == nil && b.Calls[i].ID == s.Calls[i].ID && b.Calls[i].ArgsHash == hash
	}
	if !same {
		return fmt.Errorf("batch %q was handed in before with other calls: %w", s.Batch, umpire.ErrState)
	}
	return nil
}

// override takes in what the submission says of how it is to be decided.
func (sc *scene) override(s *umpire.Submission) error {
	sc.headless = sc.headless || s.Headless
	sc.tighten, sc.sandbox = s.Tighten, s.Sandbox
	if s.Mode == nil {
		return nil
	}
	if *s.Mode == umpire.ModeBypass && !sc.session.AllowBypass {
		return invalid("mode", "bypass needs a session that was opened for it")
	}
	sc.session.Mode = *s.Mode
	sc.mode = effectiveMode(&sc.session, &sc.settings)
	return nil
}

// judgeAll decides every call before any runs, and finds those that a person
// denied in this very turn.
func (g *Gate) judgeAll(ctx context.Context, sub *submission) error {
	for i := range sub.Calls {
		call := sub.Calls[i]
		call.Batch = sub.Batch
		j, err := g.judge(sub.scene, call)
		if err != nil {
			return err
		}
		if err := g.consult(ctx, sub.scene, j); err != nil {
			return err
		}
		sub.calls = append(sub.calls, j)
	}
	if err := g.findDenied(ctx, sub); err != nil {
		return err
	}
	if err := g.findPlanned(ctx, sub.scene, sub.calls); err != nil {
		return err
	}
	for i, j := range sub.calls {
		if j.state() == umpire.CallAsked {
			j.question = g.ask(sub.scene, j, sub.Batch, i+1, len(sub.calls))
		}
	}
	return nil
}

// findDenied marks the calls that would ask and that a person denied in this turn.
func (g *Gate) findDenied(ctx context.Context, sub *submission) error {
	asks := func(j *judged) bool { return j.decision.Verdict == umpire.Ask }
	if !slices.ContainsFunc(sub.calls, asks) {
		return nil
	}
	return g.peek(ctx, func(tx *store.Tx) error {
		for _, j := range sub.calls {
			if !asks(j) {
				continue
			}
			standing, err := tx.DeniedInTurn(sub.Session, sub.scene.session.Turn, j.hash)
			if errors.Is(err, umpire.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			j.denied = &standing
		}
		return nil
	})
}

// state is the one in which the call enters the batch.
func (j *judged) state() umpire.CallState {
	switch {
	case j.denied != nil:
		return umpire.CallDenied
	case j.unasked || j.decision.Verdict == umpire.Ask:
		return umpire.CallAsked
	case j.decision.Verdict == umpire.Allow:
		return umpire.CallApproved
	}
	return umpire.CallDenied
}

// submit stores the batch with everything that follows from its decisions.
func (t *step) submit(sub *submission) (*umpire.Batch, error) {
	if t.session.State == umpire.SessionOver {
		return nil, fmt.Errorf("session %q has ended: %w", t.session.ID, umpire.ErrState)
	}
	if err := t.room(sub); err != nil {
		return nil, err
	}
	if err := t.deliverLane(sub.Lane); err != nil {
		return nil, err
	}
	if err := t.keepMessage("assistant", sub.Batch, sub.message); err != nil {
		return nil, err
	}
	b, err := t.insert(sub)
	if err != nil {
		return nil, err
	}
	for _, j := range sub.calls {
		if err := t.heard(sub.Batch, &j.call, j.hooks); err != nil {
			return nil, err
		}
		if err := t.enter(b, j, &sub.scene.settings); err != nil {
			return nil, err
		}
	}
	return b, t.settle(b)
}

// room keeps an agent from burying a person in questions.
func (t *step) room(sub *submission) error {
	limit := sub.scene.settings.MaxPending
	if limit == 0 {
		limit = DefaultMaxPending
	}
	asking := 0
	for _, j := range sub.calls {
		if j.question != nil && !j.unasked {
			asking++
		}
	}
	if asking > 0 && t.session.Pending+asking > limit {
		return fmt.Errorf("session %q has %d questions waiting and %d more would be over %d (pending.max_per_session): %w",
			t.session.ID, t.session.Pending, asking, limit, umpire.ErrLimit)
	}
	if asking == 0 {
		return nil
	}
	return roomForQuestions(t.tx, t.session.Runner, asking)
}

// deliverLane closes the batch before: a new message can only come from an agent
// that has the results of the last one.
func (t *step) deliverLane(lane string) error {
	b, err := t.tx.OpenBatch(t.session.ID, lane)
	if errors.Is(err, umpire.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if b.State != umpire.BatchFinished {
		return fmt.Errorf("batch %q of session %q is %s: %w", b.ID, t.session.ID, b.State, umpire.ErrState)
	}
	return t.deliver(&b)
}

// deliver marks a batch's results as received.
func (t *step) deliver(b *umpire.Batch) error {
	_, err := t.tx.Resume(t.session.ID, b.ID)
	if errors.Is(err, umpire.ErrNotFound) {
		err = t.tx.ClaimResume(t.session.ID, b.ID, t.session.Epoch, t.now)
	}
	if err != nil {
		return err
	}
	if err := t.tx.DeliverResume(t.session.ID, b.ID, t.now); err != nil {
		return err
	}
	return t.apply(b, umpire.Event{Kind: umpire.EventBatchDelivered}, nil)
}

// insert stores the batch as its first event makes it.
func (t *step) insert(sub *submission) (*umpire.Batch, error) {
	told := batch.Submitted{Lane: sub.Lane, Turn: t.session.Turn}
	var rows []store.CallRow
	for i, j := range sub.calls {
		told.Calls = append(told.Calls, batch.Call{
			ID: j.call.ID, Tool: j.call.Tool, ArgsHash: j.hash, Background: j.call.Background, Effect: j.effect,
			State: j.state(), Verdict: j.decision.Verdict, Reason: t.gate.maskText(j.decision.Reason), Code: j.decision.ReasonCode,
			Took: j.took.Microseconds(),
		})
		rows = append(rows, store.CallRow{
			Session: t.session.ID, Batch: sub.Batch, Ordinal: i, ID: j.call.ID, Tool: j.call.Tool, Input: j.input, ArgsHash: j.hash,
			Dir: j.call.Dir, Agent: j.call.Agent, Extra: j.extra, Effect: j.effect, Turn: t.session.Turn, Background: j.call.Background,
		})
	}
	e := t.record(umpire.Event{Kind: umpire.EventBatchSubmitted, Batch: sub.Batch}, told)
	b, err := t.tx.Submit(batch.Event{Event: e, Detail: told}, rows)
	return &b, ifIllegal(err)
}

// enter stores what follows from the decision on one call.
func (t *step) enter(b *umpire.Batch, j *judged, settings *Settings) error {
	switch {
	case j.question != nil:
		return t.enterAsked(b, j)
	case j.state() == umpire.CallDenied:
		code, reason := j.decision.ReasonCode, j.decision.Reason
		if j.denied != nil {
			code, reason = umpire.CodeDenied, j.denied.Reason
		}
		if code == umpire.CodeAutoDeny {
			if err := t.countDenial(settings); err != nil {
				return err
			}
		}
		return t.deny(b, j, code, reason)
	case j.decision.ReasonCode == umpire.CodeSafe && lifting(&j.decision) == nil:
		return nil // the call's own events tell of it
	}
	t.session.DenialsInRow = 0
	return t.append(t.bypassed(b.ID, j), nil)
}

// lifting returns the rule or grant by which a safe call may leave the project, or
// nil when nothing was lifted for it.
func lifting(d *umpire.Decision) *umpire.Reason {
	for i := range d.Reasons {
		r := &d.Reasons[i]
		if r.Access < 0 || d.Accesses[r.Access].Place != umpire.PlaceOutside || r.Verdict != umpire.Allow {
			continue
		}
		switch r.Code {
		case umpire.CodeRule, umpire.CodeOnce, umpire.CodeSession, umpire.CodeRemembered:
			return r
		}
	}
	return nil
}

// bypassed is the event of a call that a rule, a grant or a mode let through.
func (t *step) bypassed(id umpire.BatchID, j *judged) umpire.Event {
	e := t.decided(umpire.EventPermissionBypassedByRule, j)
	e.Batch, e.Call, e.Tool, e.Agent = id, j.call.ID, j.call.Tool, j.call.Agent
	e.State = umpire.StateAllowed
	if r := lifting(&j.decision); r != nil && j.decision.ReasonCode == umpire.CodeSafe {
		e.Reason, e.Code = r.Text, r.Code
		if r.Rule != nil {
			e.Rule = r.Rule.ID
		}
	}
	return e
}

// decided is an event that tells of a decision.
func (t *step) decided(kind umpire.EventKind, j *judged) umpire.Event {
	d := &j.decision
	e := umpire.Event{
		Kind: kind, Type: d.Type, Risk: d.Risk.Level(), Verdict: new(d.Verdict), Reason: d.Reason, Code: d.ReasonCode,
		Accesses: t.gate.shownAccesses(j),
	}
	if d.Rule != nil {
		e.Rule = d.Rule.ID
	}
	return e
}

// enterAsked stores a call's question, and its answer where nobody can give one.
func (t *step) enterAsked(b *umpire.Batch, j *judged) error {
	q := *j.question
	if err := t.put(b, &q, umpire.EventPermissionAsked); err != nil {
		return err
	}
	if !j.unasked {
		return nil
	}
	return t.answerNo(b, b.Call(j.call.ID), umpire.CodeAutoDeny, j.decision.Reason)
}

// put stores a question and tells of it.
func (t *step) put(b *umpire.Batch, q *question, kind umpire.EventKind) error {
	if err := q.put(t.tx, b.Call(q.card.Call).Round+1); err != nil {
		return err
	}
	e := q.event(kind)
	t.blocked = e.Blocked
	return t.apply(b, e, q.detail())
}
