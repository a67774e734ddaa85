package store

import (
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/batch"
)

// A TrialRow is one trial of a call.
type TrialRow struct {
	ID      umpire.TrialID
	Session umpire.SessionID
	Batch   umpire.BatchID
	Call    umpire.CallID
	Project umpire.ProjectID
	Round   int // number of the call's trial, from 1
	State   umpire.TrialState
	Base    string   // a digest of the call's plan, as read when the trial started
	Reach   []string // destinations that a person approved for it
	Epoch   int64
	Runner  string
	Started time.Time
	Settled time.Time // zero: neither kept nor discarded

	TrialReport
}

// A TrialReport describes a trial's effects; it is empty while the trial runs.
type TrialReport struct {
	Layer   string // digest
	Exit    int
	Output  Sealed
	Effects Sealed // JSON
	Ran     time.Time
}

// Trials accesses the trials of calls.
type Trials struct{ *transaction }

// Insert records a trial before its command runs. Its call must be asked and the next one
// of its batch. Another open trial of the same call fails with ErrConflict. Insert
// numbers the rounds.
func (t Trials) Insert(r TrialRow) error {
	t.pending = true
	return t.insert(umpire.Errorf("trial %q", r.ID), `INSERT INTO trials (trial_id, session_id, batch_id, call_id,
		project_id, round, state, base_digest, layer_digest, network, reach, epoch, runner, exit_code,
		started_at, output, effects)
		SELECT $1, $2, $3, $4, $5, 1 + COUNT(*), 'running', $6, '', CAST($7 AS BOOLEAN), $12, CAST($8 AS BIGINT), $9, 0,
			CAST($10 AS BIGINT), $11, ''
		FROM trials WHERE session_id = $2 AND call_id = $4
		ON CONFLICT DO NOTHING`,
		string(r.ID), string(r.Session), string(r.Batch), string(r.Call), string(r.Project), r.Base,
		len(r.Reach) > 0, r.Epoch, r.Runner, stamp(r.Started), []byte{}, jsonOf(r.Reach))
}

// Report stores the effects of a running trial. Batches.Apply then changes its state.
func (t Trials) Report(id umpire.TrialID, r *TrialReport) error {
	return t.modify(umpire.Errorf("trial %q", id), conflict("it is not running"), `UPDATE trials
		SET layer_digest = $2, exit_code = $3, output = $4, output_exact = $5, effects = $6,
		effects_exact = $7, ran_at = $8 WHERE trial_id = $1 AND state = 'running'`, string(id), r.Layer, r.Exit,
		[]byte(r.Output.Shown), blob(r.Output.Exact), r.Effects.Shown, blob(r.Effects.Exact), stamp(r.Ran))
}

const selectTrials = `SELECT trial_id, session_id, batch_id, call_id, project_id, round, state, base_digest, reach,
		epoch, runner, started_at, settled_at, layer_digest, exit_code, output, output_exact, effects,
		effects_exact, ran_at
	FROM trials`

func (t Trials) one(query string, args ...any) (r TrialRow, err error) {
	err = t.row([]any{
		&r.ID, &r.Session, &r.Batch, &r.Call, &r.Project, &r.Round, &r.State, &r.Base, jsonTo{&r.Reach}, &r.Epoch,
		&r.Runner, moment{&r.Started}, moment{&r.Settled}, &r.Layer, &r.Exit, bytesTo{&r.Output.Shown}, &r.Output.Exact,
		&r.Effects.Shown, &r.Effects.Exact, moment{&r.Ran},
	}, selectTrials+query, args...)
	return r, err
}

// Get returns a trial.
func (t Trials) Get(id umpire.TrialID) (TrialRow, error) {
	return t.one(` WHERE trial_id = $1`, string(id))
}

// ListRunning returns the running trials of a project, with the same fields as ListOpen.
func (t Trials) ListRunning(p umpire.ProjectID) ([]TrialRow, error) {
	return t.listBriefly(`state = 'running' AND project_id = $1`, string(p))
}

// IsWanted reports whether a person has answered a question by requesting a trial.
func (t Trials) IsWanted(s umpire.SessionID, r umpire.RequestID) (bool, error) {
	var count int
	err := t.row([]any{&count}, `SELECT COUNT(*) FROM events WHERE session_id = $1 AND request_id = $2 AND kind = $3`,
		string(s), string(r), string(umpire.EventTrialWanted))
	return count > 0, err
}

// ListOpen returns the trials that are neither kept nor discarded, without their reports.
func (t Trials) ListOpen() ([]TrialRow, error) {
	return t.listBriefly(`state IN ('running', 'waiting', 'conflict')`)
}

func (t Trials) listBriefly(where string, args ...any) (all []TrialRow, err error) {
	err = t.rows(func(scan scanner) error {
		var r TrialRow
		err := scan(&r.ID, &r.Session, &r.Batch, &r.Call, &r.State, &r.Runner)
		all = append(all, r)
		return err
	}, `SELECT trial_id, session_id, batch_id, call_id, state, runner FROM trials WHERE `+where, args...)
	return all, err
}

// apply stores the new state of a call's trial, if an event changes it. A new trial was
// inserted before.
func (t Trials) apply(c *umpire.BatchCall, e *umpire.Event) error {
	to := batch.NextTrialState(c.TrialState, e)
	if c.Trial == "" || to == c.TrialState {
		return nil
	}
	t.pending = true
	settled := any(nil)
	if to == umpire.TrialKept || to == umpire.TrialDiscarded {
		settled = stamp(e.At)
	}
	return t.modify(umpire.Errorf("trial %q", c.Trial), conflict("it is no longer %s", c.TrialState),
		`UPDATE trials SET state = $3, settled_at = $4 WHERE trial_id = $1 AND state = $2`,
		string(c.Trial), string(c.TrialState), string(to), settled)
}
