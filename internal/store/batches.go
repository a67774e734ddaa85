package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/batch"
)

// Batches accesses the batches of calls, each with its calls.
type Batches struct{ *transaction }

const insertBatch = `INSERT INTO batches (session_id, batch_id, seq, lane, turn, state, resumes, cancelled, created_at)
	SELECT $1, $2, COALESCE(MAX(seq), 0) + 1, $3, CAST($4 AS BIGINT), $5, CAST($6 AS BIGINT), CAST($7 AS BOOLEAN),
		CAST($8 AS BIGINT)
	FROM batches WHERE session_id = $1
	ON CONFLICT DO NOTHING`

const insertCall = `INSERT INTO calls (session_id, call_id, batch_id, ordinal, tool, args_hash, effect, background,
	turn,
		state, request_id, round, attempt, verdict, reason, reason_code, working_dir, agent, extra, input, input_exact,
		input_size, input_digest)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)
	ON CONFLICT DO NOTHING`

// Submit stores the batch and calls of a BatchSubmitted event, appends the event, and
// returns the batch. See Insert for the conflicts.
func (t Batches) Submit(e batch.Event, calls []CallRow) (umpire.Batch, error) {
	b, err := batch.Apply(umpire.Batch{}, e)
	if err != nil {
		return b, err
	}
	detail, _ := e.Detail.(batch.Submitted)
	if err := t.Insert(b, detail.Turn, calls, e.At); err != nil {
		return b, err
	}
	return b, Events(t).Add(e.Event)
}

// Apply folds an event into a batch, stores the changes, and appends the event to the
// timeline. b must match the stored row; otherwise Apply fails with ErrConflict. An
// illegal event stores nothing, and its error matches batch.ErrIllegal.
//
// The rows that belong to an event must be stored before it: the answer, the started
// execution or trial, the trial's report, and the claim and delivery of a delivered
// batch. Results.Insert stores results.
func (t Batches) Apply(b *umpire.Batch, e batch.Event) error {
	next, err := batch.Apply(*b, e)
	if err != nil {
		return err
	}
	if c := b.Call(e.Call); c != nil {
		if err := t.saveCall(b, c, next.Call(e.Call)); err != nil {
			return err
		}
		if err := Trials(t).apply(c, &e.Event); err != nil {
			return err
		}
	}
	if err := t.saveState(b, &next); err != nil {
		return err
	}
	*b = next
	return Events(t).Add(e.Event)
}

// saveState stores a batch's new state, if the event changed it.
func (t Batches) saveState(from, to *umpire.Batch) error {
	if from.State == to.State && from.Resumes == to.Resumes && from.Cancelled == to.Cancelled {
		return nil
	}
	t.pending = true
	return t.modify(umpire.Errorf("batch %q", from.ID), conflict("it is no longer %s", from.State),
		`UPDATE batches SET state = $3, resumes = $4, cancelled = $5
		WHERE session_id = $1 AND batch_id = $2 AND state = $6 AND resumes = $7 AND cancelled = $8`,
		string(from.Session), string(from.ID), string(to.State), to.Resumes, to.Cancelled,
		string(from.State), from.Resumes, from.Cancelled)
}

// saveCall stores a call's new state, if the event changed it.
func (t Batches) saveCall(b *umpire.Batch, from, to *umpire.BatchCall) error {
	if from.State == to.State && from.Request == to.Request && from.Round == to.Round && from.Attempt == to.Attempt &&
		from.Verdict == to.Verdict && from.Reason == to.Reason && from.Code == to.Code {
		return nil
	}
	t.pending = true
	return t.modify(umpire.Errorf("call %q of batch %q", from.ID, b.ID),
		conflict("it is no longer %s, or the batch is not %s", from.State, b.State),
		`UPDATE calls SET state = $3, request_id = $4, round = $5, attempt = $6,
			verdict = $7, reason = $8, reason_code = $9
		WHERE session_id = $1 AND call_id = $2 AND state = $10 AND request_id = $11 AND round = $12 AND attempt = $13
			AND EXISTS (SELECT 1 FROM batches AS b WHERE b.session_id = $1 AND b.batch_id = $14
				AND b.state = $15 AND b.resumes = $16 AND b.cancelled = $17)`,
		string(b.Session), string(from.ID), string(to.State), string(to.Request), to.Round, to.Attempt,
		textOf(to.Verdict), to.Reason, string(to.Code), string(from.State), string(from.Request), from.Round,
		from.Attempt,
		string(b.ID), string(b.State), b.Resumes, b.Cancelled)
}

// Insert adds a new batch with its calls in order. An existing batch or call, or a lane
// with an open batch, fails with ErrConflict.
func (t Batches) Insert(b umpire.Batch, turn int64, calls []CallRow, at time.Time) error {
	what := umpire.Errorf("batch %q", b.ID)
	if len(calls) != len(b.Calls) {
		return umpire.Errorf("%w: %d calls with %d rows: %w", what, len(b.Calls), len(calls), umpire.ErrInvalid)
	}
	t.pending = true
	err := t.insert(what, insertBatch, string(b.Session), string(b.ID), b.Lane, turn, string(b.State), b.Resumes,
		b.Cancelled, stamp(at))
	if err != nil {
		return err
	}
	for i := range calls {
		if err := t.insertCall(&b, turn, &b.Calls[i], &calls[i]); err != nil {
			return err
		}
	}
	return nil
}

func (t Batches) insertCall(b *umpire.Batch, turn int64, c *umpire.BatchCall, row *CallRow) error {
	digest, err := t.insertInput(b.Session, &row.Input)
	if err != nil {
		return umpire.Errorf("call %q: %w", c.ID, err)
	}
	input, size := row.Input.Clip()
	return t.insert(umpire.Errorf("call %q", c.ID), insertCall,
		string(b.Session), string(c.ID), string(b.ID), row.Ordinal, c.Tool, c.ArgsHash, string(c.Effect), c.Background,
		turn, string(c.State), string(c.Request), c.Round, c.Attempt, textOf(c.Verdict), c.Reason, string(c.Code),
		row.Dir, row.Agent,
		raw(row.Extra), string(input), blob(row.Input.Exact), size, digest)
}

// selectBatches reads batches with their calls and results, one row per call. CROSS JOIN
// fixes the order in SQLite, which would otherwise start with all calls of the session.
const selectBatches = batchColumns + `0 FROM batches AS b CROSS JOIN calls AS c` + ofCalls + `
	WHERE b.session_id = $1 AND c.session_id = b.session_id AND c.batch_id = b.batch_id`

// selectAround reads the calls that matter to an event about one call; a call may appear
// more than once. Each part has only one usable index, because the database may have no
// statistics yet. SQLite replans a statement whenever a LIMIT parameter is bound, so the
// limits are literals.
var selectAround = batchColumns + fmt.Sprintf(`(SELECT ordinal + 1 FROM calls WHERE session_id = $1 AND batch_id = $2
		ORDER BY ordinal DESC LIMIT 1)
	FROM (
		SELECT * FROM (SELECT * FROM calls WHERE session_id = $1 AND call_id = $3 LIMIT 1) AS one
		UNION ALL SELECT * FROM (SELECT * FROM calls WHERE session_id = $1 AND batch_id = $2
			AND state <> 'finished' ORDER BY ordinal LIMIT 2) AS unfinished
		UNION ALL SELECT * FROM (SELECT * FROM calls WHERE session_id = $1 AND batch_id = $2
			AND state IN ('asked', 'indeterminate') ORDER BY ordinal LIMIT 2) AS waiting
		UNION ALL SELECT * FROM (SELECT * FROM calls WHERE session_id = $1 AND batch_id = $2
			AND ordinal < %[1]d ORDER BY ordinal LIMIT %[1]d) AS small
			WHERE NOT EXISTS (SELECT 1 FROM calls WHERE session_id = $1 AND batch_id = $2 AND ordinal = %[1]d)
	) AS c JOIN batches AS b ON b.session_id = $1 AND b.batch_id = $2`, umpire.WholeBatch) + ofCalls + `
	WHERE c.batch_id = $2 ORDER BY c.ordinal`

const batchColumns = `SELECT b.batch_id, b.session_id, b.lane, b.state, b.resumes, b.cancelled,
		c.call_id, c.tool, c.input, c.input_size, c.args_hash, c.background, c.effect, c.state, c.request_id, c.round,
		c.attempt, c.verdict, c.reason, c.reason_code, r.status, r.output, r.reason_code, r.at, t.trial_id, t.state, `

const ofCalls = `
	LEFT JOIN results AS r ON r.session_id = c.session_id AND r.call_id = c.call_id
	LEFT JOIN trials AS t ON t.session_id = c.session_id AND t.call_id = c.call_id
		AND t.state IN ('running', 'waiting', 'conflict')`

// query runs a query that starts with batchColumns. Its rows are sorted by batch and
// ordinal.
func (t Batches) query(query string, args ...any) ([]umpire.Batch, error) {
	var all []umpire.Batch
	err := t.rows(func(scan scanner) error {
		var b umpire.Batch
		var c umpire.BatchCall
		var status nullTo[umpire.ResultStatus]
		r := umpire.Result{}
		status.to = &r.Status
		err := scan(&b.ID, &b.Session, &b.Lane, &b.State, &b.Resumes, &b.Cancelled,
			&c.ID, &c.Tool, jsonTo{&c.Input}, &c.InputSize, &c.ArgsHash, &c.Background, &c.Effect, &c.State, &c.Request,
			&c.Round, &c.Attempt, textTo{&c.Verdict}, &c.Reason, &c.Code, status, bytesTo{&r.Output},
			nullTo[umpire.ReasonCode]{&r.Code},
			moment{&r.At}, nullTo[umpire.TrialID]{&c.Trial}, nullTo[umpire.TrialState]{&c.TrialState}, &b.Total)
		if err != nil {
			return err
		}
		if r.Status != "" {
			r.Call, r.Session, r.Batch = c.ID, b.Session, b.ID
			c.Result = &r
		}
		if n := len(all); n == 0 || all[n-1].ID != b.ID {
			all = append(all, b)
		}
		last := &all[len(all)-1]
		if n := len(last.Calls); n == 0 || last.Calls[n-1].ID != c.ID {
			last.Calls = append(last.Calls, c)
		}
		return nil
	}, query, args...)
	for i := range all {
		if b := &all[i]; b.Total <= len(b.Calls) {
			b.Total = 0
		}
	}
	return all, err
}

// oneBatch returns the only batch of a query.
func oneBatch(all []umpire.Batch, err error) (umpire.Batch, error) {
	if err != nil {
		return umpire.Batch{}, err
	}
	if len(all) == 0 {
		return umpire.Batch{}, umpire.ErrNotFound
	}
	return all[0], nil
}

// Get returns a batch with its calls in order, their inputs and outputs as shown, and
// their results.
func (t Batches) Get(s umpire.SessionID, id umpire.BatchID) (umpire.Batch, error) {
	return oneBatch(t.query(selectBatches+` AND b.batch_id = $2 ORDER BY c.ordinal`, string(s), string(id)))
}

// GetWhole is like Get but returns large inputs completely.
func (t Batches) GetWhole(s umpire.SessionID, id umpire.BatchID) (umpire.Batch, error) {
	b, err := t.Get(s, id)
	for i := range b.Calls {
		c := &b.Calls[i]
		if c.InputSize == 0 {
			continue
		}
		row, err := Calls(t).Get(s, c.ID)
		if err != nil {
			return b, err
		}
		c.Input, c.InputSize = json.RawMessage(row.Input.Shown), 0
	}
	return b, err
}

// GetAround returns a batch with at least the calls that matter to an event about one
// call: see umpire.Batch.Total. The call may be missing.
func (t Batches) GetAround(s umpire.SessionID, id umpire.BatchID, call umpire.CallID) (umpire.Batch, error) {
	return oneBatch(t.query(selectAround, string(s), string(id), string(call)))
}

// GetState returns the state of a batch.
func (t Batches) GetState(s umpire.SessionID, id umpire.BatchID) (state umpire.BatchState, err error) {
	err = t.row([]any{&state}, `SELECT state FROM batches WHERE session_id = $1 AND batch_id = $2`,
		string(s), string(id))
	return state, err
}

// List returns all batches of a session in the order of their submission.
func (t Batches) List(s umpire.SessionID) ([]umpire.Batch, error) {
	return t.query(selectBatches+` ORDER BY b.seq, c.ordinal`, string(s))
}

// ListOpen returns the batches of a session that are not delivered. The condition on lane
// is always true, and lets SQLite use the index without delivered batches. The plus
// prevents it from using the index by seq, which has them all.
func (t Batches) ListOpen(s umpire.SessionID) ([]umpire.Batch, error) {
	return t.query(selectBatches+` AND b.state <> 'delivered' AND b.lane >= ''
		ORDER BY +b.seq, c.ordinal`, string(s))
}

// OpenWork returns how many calls of a session wait for a person, and whether the batch of its
// conversation, which has no lane, continues: it is running, or has finished without being cancelled
// and is not delivered. It does not read the batches, because a host may leave many open.
func (t Batches) OpenWork(s umpire.SessionID) (waiting int, goesOn bool, err error) {
	err = t.row([]any{&waiting, &goesOn}, `SELECT
		(SELECT COUNT(*) FROM calls WHERE session_id = $1 AND state IN ('asked', 'indeterminate')),
		EXISTS (SELECT 1 FROM batches WHERE session_id = $1 AND state <> 'delivered' AND lane = ''
			AND (state = 'running' OR state = 'finished' AND NOT cancelled))`, string(s))
	return waiting, goesOn, err
}

// GetOpen returns the undelivered batch of a lane.
func (t Batches) GetOpen(s umpire.SessionID, lane string) (umpire.Batch, error) {
	return oneBatch(t.query(selectBatches+` AND b.state <> 'delivered' AND b.lane = $2
		ORDER BY c.ordinal`, string(s), lane))
}

// Calls accesses the calls of all batches.
type Calls struct{ *transaction }

// Get returns a call with its complete input and the fields that are not in events.
func (t Calls) Get(s umpire.SessionID, c umpire.CallID) (CallRow, error) {
	row := CallRow{Session: s, ID: c}
	var size int64
	var digest, packed string
	err := t.row([]any{
		&row.Batch, &row.Ordinal, &row.Tool, &row.Input.Shown, &row.Input.Exact, &row.ArgsHash, &row.Dir, &row.Agent,
		jsonTo{&row.Extra}, &row.Effect, &row.Turn, &row.Background, &size, nullTo[string]{&digest}, bytesTo{&packed},
	}, `SELECT c.batch_id, c.ordinal, c.tool, c.input, c.input_exact, c.args_hash, c.working_dir, c.agent, c.extra,
			c.effect, c.turn, c.background, c.input_size, c.input_digest, i.packed
		FROM calls AS c LEFT JOIN inputs AS i ON i.session_id = c.session_id AND i.digest = c.input_digest
		WHERE c.session_id = $1 AND c.call_id = $2`, string(s), string(c))
	if err == nil && digest != "" {
		if row.Input.Shown, err = unpack(packed, size, digest); err != nil {
			return row, umpire.Errorf("call %q: %w", c, err)
		}
	}
	return row, err
}

// deniedInTurn starts with the calls, which are few: a database without statistics might
// start anywhere.
const deniedInTurn = `WITH same AS MATERIALIZED (
		SELECT session_id, call_id, request_id FROM calls WHERE session_id = $1 AND turn = $2 AND args_hash = $3
			AND request_id <> '')
	SELECT ` + answerColumns + ` FROM same JOIN answers AS a ON a.request_id = same.request_id
	WHERE a.answer = 'deny' AND a.reason_code IN ('', 'denied')
		AND NOT EXISTS (SELECT 1 FROM executions AS e WHERE e.session_id = same.session_id AND e.call_id = same.call_id)
	ORDER BY a.at DESC, a.request_id DESC LIMIT 1`

// DeniedInTurn returns the latest answer with which a person denied a call with the same
// arguments in the same turn. An answer about a started call does not count: it reports
// the call's outcome.
func (t Calls) DeniedInTurn(s umpire.SessionID, turn int64, argsHash string) (umpire.Standing, error) {
	var a AnswerRow
	err := t.row(answerFields(&a), deniedInTurn, string(s), turn, argsHash)
	if err != nil && !errors.Is(err, umpire.ErrNotFound) {
		return umpire.Standing{}, err
	}
	return a.Standing, err
}
