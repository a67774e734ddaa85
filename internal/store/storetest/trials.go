package storetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/batch"
	"github.com/umpirehq/umpire/internal/store"
)

// try starts a trial of a call. Each session is its own project here.
func (p *play) try(id umpire.CallID) error {
	c := p.now.Call(id)
	trial := umpire.TrialID(fmt.Sprintf("%s/%s/t%d/%d", p.now.Session, id, c.Round, p.at.UnixMicro()))
	return p.event(umpire.EventTrialStarted, id, "", batch.Tried{Trial: trial}, func() error {
		return p.tx.Trials.Insert(store.TrialRow{
			ID: trial, Session: p.now.Session, Batch: p.now.ID, Call: id,
			Project: umpire.ProjectID(p.now.Session), Started: p.at,
		})
	})
}

// tried applies an event about the open trial of a call.
func (p *play) tried(kind umpire.EventKind, id umpire.CallID, rows ...func() error) error {
	return p.event(kind, id, "", batch.Tried{Trial: p.now.Call(id).Trial}, rows...)
}

// report ends the command of a trial.
func (p *play) report(id umpire.CallID) error {
	return p.tried(umpire.EventTrialRan, id, func() error {
		return p.tx.Trials.Report(p.now.Call(id).Trial, &store.TrialReport{Layer: "layer", Ran: p.at})
	})
}

func (p *play) keep(id umpire.CallID) error     { return p.tried(umpire.EventEffectsKept, id) }
func (p *play) discard(id umpire.CallID) error  { return p.tried(umpire.EventEffectsDiscarded, id) }
func (p *play) conflict(id umpire.CallID) error { return p.tried(umpire.EventEffectsConflicted, id) }

// steps combines several moves of call c1 into a function.
func steps(moves ...func(*play, umpire.CallID) error) func(*play) error {
	return func(p *play) error {
		for _, move := range moves {
			if err := move(p, "c1"); err != nil {
				return err
			}
		}
		return nil
	}
}

var (
	begin    = func(p *play, _ umpire.CallID) error { return p.submit("", asked("c1"), approved("c2")) }
	approve  = func(p *play, c umpire.CallID) error { return p.answer(c, umpire.Approve) }
	resume   = func(p *play, _ umpire.CallID) error { return p.resume() }
	withdraw = func(p *play, c umpire.CallID) error { return p.ask(c) }
)

// waysOfTrials take a trial of call c1, the first of two, to each state.
var waysOfTrials = map[umpire.TrialState]func(*play) error{
	umpire.TrialRunning: steps(begin, (*play).try),
	umpire.TrialWaiting: steps(begin, (*play).try, (*play).report, approve, resume, (*play).start),
	umpire.TrialConflict: steps(begin, (*play).try, (*play).report, withdraw, approve, resume, (*play).start,
		(*play).conflict),
	umpire.TrialKept:      steps(begin, (*play).try, (*play).report, approve, resume, (*play).start, (*play).keep),
	umpire.TrialDiscarded: steps(begin, (*play).try, (*play).discard),
}

// trialWays tries every pair of states with a raw statement: the database must allow
// exactly the transitions in the table.
func trialWays(b *bench) {
	for state, way := range waysOfTrials {
		b.session(umpire.SessionID(state))
		b.play(umpire.SessionID(state), "b", way)
	}
	for from := range waysOfTrials {
		for to := range waysOfTrials {
			legal := slices.ContainsFunc(batch.TrialTransitions, func(row batch.Transition[umpire.TrialState]) bool {
				return row.From == from && row.To == to
			})
			set := fmt.Sprintf("state = '%s'", to)
			if from == umpire.TrialRunning && to == umpire.TrialWaiting {
				set += ", layer_digest = 'd', ran_at = 1"
			}
			refused := "trials_transition trials_keep trials_layer"
			if legal || from == to {
				refused = ""
			}
			b.expect(refused, fmt.Sprintf(`UPDATE trials SET %s WHERE session_id = '%s'`, set, from))
		}
	}
}

// trials checks that trials are stored unchanged, and that their call shows the open one.
func trials(b *bench) {
	b.session("s")
	b.play("s", "b", steps(begin))
	want := store.TrialRow{
		ID: "t1", Session: "s", Batch: "b", Call: "c1", Project: "p",
		Round: 1, State: umpire.TrialRunning, Base: "base",
		Reach: []string{"registry.example:443"}, Epoch: 2, Runner: "host", Started: b.later(),
	}
	start := func(p *play) error {
		return p.event(umpire.EventTrialStarted, "c1", "", batch.Tried{Trial: want.ID}, func() error {
			return p.tx.Trials.Insert(want)
		})
	}
	b.play("s", "b", start)
	b.trial(want, umpire.TrialRunning)
	b.session("other")
	b.play("other", "b", steps(begin))
	beside := store.TrialRow{ID: "t0", Session: "other", Batch: "b", Call: "c1", Project: "p", Started: b.later()}
	b.play("other", "b", func(p *play) error { // in the same project
		return p.event(umpire.EventTrialStarted, "c1", "", batch.Tried{Trial: beside.ID}, func() error {
			return p.tx.Trials.Insert(beside)
		})
	})
	b.refuse(store.ErrConflict, func(tx *store.Tx) error { // of the same call
		return tx.Trials.Insert(store.TrialRow{ID: "t2", Session: "s", Batch: "b", Call: "c1", Project: "q"})
	})
	want.TrialReport = store.TrialReport{
		Layer: "layer", Exit: 3, Output: store.Sealed{Shown: "out ***", Exact: []byte("sealed")},
		Effects: store.Sealed{Shown: `{"list":[]}`, Exact: []byte("sealed too")}, Ran: b.later(),
	}
	want.State = umpire.TrialWaiting
	b.play("s", "b", func(p *play) error {
		return p.tried(umpire.EventTrialRan, "c1", func() error {
			return p.tx.Trials.Report(want.ID, &want.TrialReport)
		})
	})
	b.trial(want, umpire.TrialWaiting)
	b.refuse(store.ErrConflict, func(tx *store.Tx) error { return tx.Trials.Report(want.ID, &want.TrialReport) })
	b.play("s", "b", steps((*play).discard))
	want.State, want.Settled = umpire.TrialDiscarded, b.now
	b.trial(want, "")
	want = store.TrialRow{
		ID: "t2", Session: "s", Batch: "b", Call: "c1", Project: "p",
		Round: 2, State: umpire.TrialRunning, Started: b.now,
	}
	b.play("s", "b", start)
	b.trial(want, umpire.TrialRunning)
	b.view(func(tx *store.Tx) error {
		if _, err := tx.Trials.Get("none"); !is(err, umpire.ErrNotFound) {
			b.Errorf("a trial that there is not: %v", err)
		}
		running, err := tx.Trials.ListRunning("p")
		if len(running) != 2 {
			b.Errorf("ListRunning = %+v, want %q and %q", running, beside.ID, want.ID)
		}
		return err
	})
}

// trial compares a stored trial, and its state as its call shows it.
func (b *bench) trial(want store.TrialRow, shown umpire.TrialState) {
	b.Helper()
	b.view(func(tx *store.Tx) error {
		got, err := tx.Trials.Get(want.ID)
		if diff := cmp.Diff(want, got); diff != "" {
			b.Errorf("Trial (-want +got):\n%s", diff)
		}
		now, err2 := tx.Batches.Get(want.Session, want.Batch)
		if err2 == nil && now.Calls[0].TrialState != shown {
			b.Errorf("its call shows it as %q, want %q", now.Calls[0].TrialState, shown)
		}
		return orElse(err, func() error { return err2 })
	})
}

// refusedTrials are illegal statements about trials: see refusals. Each trial belongs to
// a session named after its state. Session "asked" has no trial.
var refusedTrials = []struct{ constraint, statements string }{
	{"ok", trialRow("asked", "c1", "1", "running")},
	{"trials_insert", trialRow("asked", "c1", "1", "waiting")},
	{"trials_insert", trialRow("asked", "c1", "2", "running")},
	{"trials_insert", trialRow("asked", "c2", "1", "running")},    // it is approved, and not the next one
	{"trials_insert", trialRow("approved", "c1", "1", "running")}, // it is not asked
	{"trials_insert", trialRow("kept", "c1", "2", "running")},
	{"trials_insert", `UPDATE batches SET cancelled = TRUE WHERE session_id = 'asked';` +
		trialRow("asked", "c1", "1", "running")},
	{"trials_insert trials_pkey", strings.Replace(trialRow("asked", "c1", "1", "running"), "'new'",
		"(SELECT trial_id FROM trials WHERE session_id = 'kept')", 1)},
	{"trials_id", strings.Replace(trialRow("asked", "c1", "1", "running"), "'new'", "''", 1)},
	{"ok", strings.Replace(trialRow("asked", "c1", "1", "running"), "'p'", "'running'", 1)},
	{"trials_open", strings.Replace(trialRow("running", "c1", "2", "running"), "'p'", "'q'", 1)},
	{"trials_fence", `UPDATE sessions SET epoch = 5 WHERE session_id = 'asked';` +
		strings.Replace(trialRow("asked", "c1", "1", "running"), "FALSE, 0", "FALSE, 4", 1)},
	{"trials_identity", `UPDATE trials SET base_digest = 'x' WHERE session_id = 'running'`},
	{"trials_identity", `UPDATE trials SET project_id = 'x' WHERE session_id = 'running'`},
	{"trials_report", `UPDATE trials SET layer_digest = 'x' WHERE session_id = 'waiting'`},
	{"trials_report", `UPDATE trials SET effects = 'x' WHERE session_id = 'kept'`},
	{"trials_layer", `UPDATE trials SET state = 'waiting' WHERE session_id = 'running'`}, // without a report
	{"trials_keep", `UPDATE trials SET state = 'kept' WHERE session_id = 'unstarted'`},
	{"trials_keep", `UPDATE trials SET state = 'conflict' WHERE session_id = 'unstarted'`},
	{"trials_delete", `DELETE FROM trials`},
	{"results_trial", resultRow("waiting", "ok")},
	{"results_trial", resultRow("waiting", "error")},
	{"ok", resultRow("waiting", "indeterminate")},
	{"ok", resultRow("conflict", "error")},
	{"ok", resultRow("kept", "ok")},
	{"calls_start", answerRow("running/c1/1", "hash of c1", "approve") +
		`UPDATE calls SET state = 'approved' WHERE session_id = 'running' AND call_id = 'c1';
		UPDATE batches SET state = 'running', resumes = 1 WHERE session_id = 'running';` +
		startRow("running", "c1", "1", "unknown") + startCall("running", "c1")},
}

func trialRow(session, call, round, state string) string {
	return `INSERT INTO trials (trial_id, session_id, batch_id, call_id, project_id, round, state, base_digest,
		layer_digest, network, epoch, runner, exit_code, started_at, output, effects)
		VALUES ('new', '` + session + `', 'b', '` + call + `', 'p', ` + round + `, '` + state + `', '', '',
			FALSE, 0, '', 0, 0, '', '')`
}

// trialsRefused runs the statements on trials in every state.
func trialsRefused(b *bench) {
	b.reach()
	for state, way := range waysOfTrials {
		b.session(umpire.SessionID(state))
		b.play(umpire.SessionID(state), "b", way)
	}
	b.session("unstarted")
	b.play("unstarted", "b", steps(begin, (*play).try, (*play).report, approve))
	for _, r := range refusedTrials {
		constraints := r.constraint
		if constraints == "ok" {
			constraints = ""
		}
		b.expect(constraints, split(r.statements)...)
	}
}
