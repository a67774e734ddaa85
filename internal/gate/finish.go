package gate

import (
	"context"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

// Finish stores the result of a call. The first result wins: repeating it is fine, a different one is an
// error. The agent may end a waiting call as timed out, cancelled or left to it, never as done.
func (g *Gate) Finish(ctx context.Context, r umpire.Result) (umpire.Batch, error) {
	if r.Session == "" || r.Batch == "" || r.Call == "" {
		return umpire.Batch{}, invalid("session_id, batch_id, call_id", "all are needed")
	}
	if !slices.Contains(agentStatuses, r.Status) {
		return umpire.Batch{}, invalid("status", "want ok, error, cancelled or timeout, got %q", r.Status)
	}
	if len(r.Output) > maxOutput {
		return umpire.Batch{}, invalid("output", "larger than %d bytes", maxOutput)
	}
	g.be.reached("ran")
	sealed, err := g.be.sealText(resultLabel(r.Session, r.Call), r.Output)
	if err != nil {
		return umpire.Batch{}, err
	}
	var b umpire.Batch
	var s umpire.Session
	ran := false
	err = g.be.step(ctx, r.Session, r.Epoch, func(t *transaction) error {
		b, err = t.storeResult(&r, sealed)
		s, ran = t.session, t.ran
		return err
	}, callAhead(r.Session, r.Batch, r.Call))
	if isConflict(err) {
		err = umpire.Errorf("call %q: %w: %w", r.Call, err, umpire.ErrState)
	}
	if err != nil {
		return b, err
	}
	g.be.reached("finished")
	if ran {
		if err := g.runAfterHooks(ctx, &s, b.Call(r.Call).Tool, &r); err != nil && g.be.config.Warn != nil {
			g.be.config.Warn(umpire.Errorf("hooks after call %q: %w", r.Call, err))
		}
	}
	return b, nil
}

// maxOutput bounds the output of a call's result.
const maxOutput = 4 << 20

// agentStatuses are the statuses that an agent may report; a denial is the gate's.
var agentStatuses = []umpire.ResultStatus{
	umpire.ResultOK, umpire.ResultError, umpire.ResultCancelled, umpire.ResultTimeout,
}

// storeResult stores a runner's report on a call.
func (t *transaction) storeResult(r *umpire.Result, output store.Sealed) (umpire.Batch, error) {
	b, c, err := readCall(t.tx, t.session.ID, r.Batch, r.Call)
	if err != nil {
		return umpire.Batch{}, err
	}
	switch c.State {
	case umpire.CallDone:
		if c.Result != nil && c.Result.Status == r.Status && c.Result.Output == output.Shown {
			return *b, nil // the same report again: its acknowledgement was lost
		}
		return umpire.Batch{}, umpire.Errorf("call %q has its result already: %w", r.Call, umpire.ErrState)
	case umpire.CallAsked:
		if t.session.External && c.Trial != "" {
			return umpire.Batch{}, umpire.Errorf("call %q was tried, and its changes wait for a person: %w", r.Call,
				umpire.ErrState) // the agent has stopped waiting, which is not an answer
		}
		if r.Status != umpire.ResultTimeout && r.Status != umpire.ResultCancelled {
			return umpire.Batch{}, umpire.Errorf("call %q waits for a person: %w", r.Call, umpire.ErrState)
		}
		code := umpire.CodeTimeout
		if r.Code == umpire.CodeLeftToHost {
			code = r.Code
		} else if r.Status == umpire.ResultCancelled {
			code = umpire.CodeCancelled
		}
		err = t.refuseQuestion(b, c, code, umpire.Verbatim(r.Output))
	case umpire.CallApproved:
		if r.Status == umpire.ResultOK {
			return umpire.Batch{}, umpire.Errorf("call %q was never started: %w", r.Call, umpire.ErrState)
		}
		err = t.finishCallSealed(b, r, output)
	case umpire.CallExecuting:
		t.ran = true
		err = t.finishCallSealed(b, r, output)
	case umpire.CallDenied, umpire.CallSettled, umpire.CallUnknown:
		err = umpire.Errorf("call %q is %s: %w", r.Call, c.State, umpire.ErrState)
	}
	if err != nil {
		return umpire.Batch{}, err
	}
	err = t.continueBatch(b)
	return *b, err
}

// Batch returns the current state of a batch, with secrets masked and all inputs whole.
func (g *Gate) Batch(ctx context.Context, s umpire.SessionID, id umpire.BatchID) (umpire.Batch, error) {
	b, err := readIn(ctx, g.be.view, func(tx *store.Tx) (umpire.Batch, error) { return tx.Batches.GetWhole(s, id) })
	if err != nil {
		return b, umpire.Errorf("batch %q: %w", id, err)
	}
	return b, nil
}
