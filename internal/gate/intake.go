package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/batch"
	"github.com/umpirehq/umpire/internal/store"
)

// Limits on an agent's submissions.
const (
	maxCalls   = 1000
	maxInput   = 8 << 20
	maxMessage = 16 << 20
	maxRule    = 64 << 10 // of an offered rule: a person cannot check a longer one
	// defaultMaxPending is the default limit on waiting questions in one session.
	defaultMaxPending = 100
)

// prepareSubmission checks a submission and decides its calls. If the same submission came before,
// it returns that batch.
func (g *Gate) prepareSubmission(ctx context.Context, s *umpire.Submission) (*submission, *umpire.Batch, error) {
	if err := checkSubmission(s); err != nil {
		return nil, nil, err
	}
	var cond *conditions
	var existing *umpire.Batch
	err := g.be.viewForChange(ctx, func(tx *store.Tx) error {
		tx.Ahead(func() { _, _ = tx.Batches.Get(s.Session, s.Batch) })
		q := g.be.conditionsAhead(tx, s.Session, "")
		var err error
		if existing, err = existingBatch(tx, s); existing != nil || err != nil {
			return err
		}
		cond, err = g.projects.readConditions(tx, q)
		return err
	})
	if err != nil || existing != nil {
		return nil, existing, err
	}
	if err := g.writingRules.awaitFree(ctx, allRoots, cond.session.Root); err != nil {
		return nil, nil, err
	}
	if err := g.projects.completeConditions(cond); err != nil {
		return nil, nil, err
	}
	if err := g.sessions.noteIdentity(ctx, &cond.session, cond.project, identifyEvery); err != nil {
		return nil, nil, err
	}
	if err := cond.overrideBy(s); err != nil {
		return nil, nil, err
	}
	sub := &submission{Submission: s, conditions: cond}
	if err := g.judgeAll(ctx, sub); err != nil {
		return nil, nil, err
	}
	if len(s.Message) > 0 {
		if sub.message, err = g.be.sealJSON(messageLabel(s.Session), s.Message); err != nil {
			return nil, nil, err
		}
	}
	return sub, nil, nil
}

// checkSubmission rejects a malformed submission and names the offending field.
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
			return invalid(field+".id", "duplicate id %q", c.ID)
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

// checkConfinement rejects unknown words.
func checkConfinement(c *umpire.Confinement) error {
	if c == nil {
		return nil
	}
	switch c.Level {
	case umpire.SandboxNone, umpire.SandboxWeaker, umpire.SandboxFull:
	default:
		return invalid("sandbox.level", "want none, weaker or full, got %q", c.Level)
	}
	switch c.Mode {
	case "", umpire.SandboxReadOnly, umpire.SandboxWorkspaceWrite, umpire.SandboxFullAccess:
		return nil
	}
	return invalid("sandbox.mode", "want read-only, workspace-write or full-access, got %q", c.Mode)
}

// findExisting returns the batch of an earlier identical submission, or nil.
func (g *Gate) findExisting(ctx context.Context, s *umpire.Submission) (*umpire.Batch, error) {
	return readIn(ctx, g.be.viewForChange, func(tx *store.Tx) (*umpire.Batch, error) { return existingBatch(tx, s) })
}

func existingBatch(tx *store.Tx, s *umpire.Submission) (*umpire.Batch, error) {
	b, err := tx.Batches.Get(s.Session, s.Batch)
	if s.Ran || errors.Is(err, umpire.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &b, sameCalls(&b, s)
}

// sameCalls rejects a batch id that comes again with different calls.
func sameCalls(b *umpire.Batch, s *umpire.Submission) error {
	same := len(b.Calls) == len(s.Calls)
	for i := 0; same && i < len(s.Calls); i++ {
		hash, err := batch.ArgsHash(s.Calls[i].Tool, s.Calls[i].Input)
		same = err == nil && b.Calls[i].ID == s.Calls[i].ID && b.Calls[i].ArgsHash == hash
	}
	if !same {
		return umpire.Errorf("batch %q was submitted before with different calls: %w", s.Batch, umpire.ErrState)
	}
	return nil
}

// overrideBy applies the submission's own conditions.
func (cond *conditions) overrideBy(s *umpire.Submission) error {
	cond.Headless = cond.Headless || s.Headless
	cond.tighten, cond.confinement = s.Tighten, s.Sandbox
	if s.Mode == nil {
		return nil
	}
	if *s.Mode == umpire.ModeBypass && !cond.session.AllowBypass {
		return invalid("mode", "bypass needs a session that was opened for it")
	}
	cond.session.Mode = *s.Mode
	cond.Mode = effectiveMode(&cond.session, &cond.settings)
	return nil
}

// judgeAll decides every call before any runs, and finds those that a person already denied in this
// turn.
func (g *Gate) judgeAll(ctx context.Context, sub *submission) error {
	for i := range sub.Calls {
		call := sub.Calls[i]
		call.Batch = sub.Batch
		j, err := g.projects.judgeCall(sub.conditions, call)
		if err == nil && !sub.Ran { // it has run: no hook applies any more
			err = g.projects.askHooks(ctx, sub.conditions, j)
		}
		if err != nil {
			return err
		}
		sub.calls = append(sub.calls, j)
	}
	if err := g.findDenied(ctx, sub); err != nil {
		return err
	}
	if err := g.projects.findPlanned(ctx, sub.conditions, sub.calls); err != nil {
		return err
	}
	next := true // no earlier call is still to run
	for i, j := range sub.calls {
		if g.projects.triesFirst(sub.conditions, j) {
			j.state = umpire.CallApproved // until it is next: see trial.go
		}
		if j.state == umpire.CallAsked {
			j.question = g.be.newQuestion(sub.conditions, j, sub.Batch, i+1, len(sub.calls))
			if !j.unasked {
				sub.asking++
			}
			if !next {
				j.question.card.TrialOffer = umpire.NoTrial
			}
		}
		next = next && j.state == umpire.CallDenied
	}
	return nil
}

// findDenied marks the calls that would ask but that a person denied in this turn.
func (g *Gate) findDenied(ctx context.Context, sub *submission) error {
	asks := func(j *judged) bool { return j.decision.Verdict == umpire.Ask }
	if !slices.ContainsFunc(sub.calls, asks) {
		return nil
	}
	return g.be.viewForChange(ctx, func(tx *store.Tx) error {
		for _, j := range sub.calls {
			if !asks(j) {
				continue
			}
			existing, err := tx.Calls.DeniedInTurn(sub.Session, sub.conditions.session.Turn, j.hash)
			if errors.Is(err, umpire.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			j.denied, j.state = &existing, umpire.CallDenied
		}
		return nil
	})
}
