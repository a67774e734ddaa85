package store

import (
	"time"

	"github.com/umpirehq/umpire"
)

// Executions accesses the attempts to run calls.
type Executions struct{ *transaction }

// Insert records an attempt before the call runs. Attempts are numbered from 1; later
// ones need a repeatable effect.
func (t Executions) Insert(e ExecutionRow) error {
	return t.insert(umpire.Errorf("execution %d of call %q", e.Attempt, e.Call), `INSERT INTO executions (session_id,
		call_id, attempt,
			effect, epoch, runner, process_group, evidence, started_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING`,
		string(e.Session), string(e.Call), e.Attempt,
		string(e.Effect), e.Epoch, e.Runner, e.Group, raw(e.Before), stamp(e.At))
}

// GetLast returns the last attempt to run a call.
func (t Executions) GetLast(s umpire.SessionID, c umpire.CallID) (ExecutionRow, error) {
	e := ExecutionRow{Session: s, Call: c}
	err := t.row([]any{&e.Attempt, &e.Effect, &e.Epoch, &e.Runner, &e.Group, jsonTo{&e.Before}, moment{&e.At}},
		`SELECT attempt, effect, epoch, runner, process_group, evidence, started_at FROM executions
		WHERE session_id = $1 AND call_id = $2 ORDER BY attempt DESC LIMIT 1`, string(s), string(c))
	return e, err
}

// StartEvent returns the event of the last attempt to run a call.
func (t Executions) StartEvent(s umpire.SessionID, c umpire.CallID) (umpire.Event, error) {
	var e umpire.Event
	err := t.row(eventFields(&e), selectEvents+` AND session_id = $2 AND call_id = $3 AND kind = $4 ORDER BY seq DESC
		LIMIT 1`,
		0, string(s), string(c), string(umpire.EventCallStarted))
	return e, err
}

// Results accesses the results of calls.
type Results struct{ *transaction }

// Insert stores the result that the model sees. The first result wins: a second one fails
// with ErrConflict.
func (t Results) Insert(r ResultRow) error {
	t.pending = true
	return t.insert(umpire.Errorf("result of call %q", r.Call), `INSERT INTO results (session_id, call_id, status,
		reason_code, at,
			output, output_exact)
		SELECT session_id, call_id, $3, $4, CAST($5 AS BIGINT), $6, $7 FROM calls
		WHERE session_id = $1 AND call_id = $2
			AND NOT EXISTS (SELECT 1 FROM results WHERE session_id = $1 AND call_id = $2)
		ON CONFLICT DO NOTHING`,
		string(r.Session), string(r.Call), string(r.Status), string(r.Code), stamp(r.At), []byte(r.Output.Shown),
		blob(r.Output.Exact))
}

// Get returns the result of a call.
func (t Results) Get(s umpire.SessionID, c umpire.CallID) (ResultRow, error) {
	r := ResultRow{Session: s, Call: c}
	err := t.row([]any{&r.Status, &r.Code, moment{&r.At}, bytesTo{&r.Output.Shown}, &r.Output.Exact},
		`SELECT status, reason_code, at, output, output_exact FROM results WHERE session_id = $1
			AND call_id = $2`, string(s), string(c))
	return r, err
}

// Resumes accesses the claims on the results of batches.
type Resumes struct{ *transaction }

const (
	claimBatch = `INSERT INTO resumes (session_id, batch_id, epoch, claimed_at)
		SELECT session_id, batch_id, CAST($3 AS BIGINT), CAST($4 AS BIGINT) FROM batches
		WHERE session_id = $1 AND batch_id = $2
			AND NOT EXISTS (SELECT 1 FROM resumes WHERE session_id = $1 AND batch_id = $2)
		ON CONFLICT DO NOTHING`
	deliverBatch = `UPDATE resumes SET delivered_at = $3
		WHERE session_id = $1 AND batch_id = $2 AND delivered_at IS NULL`
)

// Claim claims the results of a batch for a runner, once: any other claim fails with
// ErrConflict. Until they are delivered, a runner with a later epoch can take over the
// claim, to deliver them again.
func (t Resumes) Claim(s umpire.SessionID, b umpire.BatchID, epoch int64, at time.Time) error {
	t.pending = true
	n, err := t.exec(`UPDATE resumes SET epoch = $3
		WHERE session_id = $1 AND batch_id = $2 AND delivered_at IS NULL AND epoch < $3`, string(s), string(b), epoch)
	if err != nil {
		return umpire.Errorf("batch %q: %w", b, err)
	}
	if n > 0 {
		return nil
	}
	return t.insert(umpire.Errorf("claim on batch %q", b), claimBatch, string(s), string(b), epoch, stamp(at))
}

// Complete records that the results of a batch have arrived, and claims them first if
// they are unclaimed. A second call fails with ErrConflict.
func (t Resumes) Complete(s umpire.SessionID, b umpire.BatchID, epoch int64, at time.Time) error {
	about := umpire.Errorf("claim on batch %q", b)
	err := t.modify(about, nil, claimBatch, string(s), string(b), epoch, stamp(at))
	if err != nil {
		return err
	}
	return t.modify(about, conflict("its results are delivered already"), deliverBatch, string(s), string(b),
		micros(at))
}

// Get returns the claim on the results of a batch.
func (t Resumes) Get(s umpire.SessionID, b umpire.BatchID) (ResumeRow, error) {
	r := ResumeRow{Session: s, Batch: b}
	err := t.row([]any{&r.Epoch, moment{&r.ClaimedAt}, moment{&r.DeliveredAt}},
		`SELECT epoch, claimed_at, delivered_at FROM resumes WHERE session_id = $1
			AND batch_id = $2`, string(s), string(b))
	return r, err
}

// Deliver records that claimed results have arrived. A second call fails with
// ErrConflict.
func (t Resumes) Deliver(s umpire.SessionID, b umpire.BatchID, at time.Time) error {
	n, err := t.exec(deliverBatch, string(s), string(b), micros(at))
	if err != nil {
		return umpire.Errorf("batch %q: %w", b, err)
	}
	if n > 0 {
		return nil
	}
	if _, err := t.Get(s, b); err != nil {
		return umpire.Errorf("claim on batch %q: %w", b, err)
	}
	return t.conflict("batch %q: its results are delivered already", b)
}
