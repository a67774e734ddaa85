package storetest

import (
	"fmt"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/batch"
	"github.com/umpirehq/umpire/internal/store"
)

var callStates = []umpire.CallState{
	umpire.CallAsked, umpire.CallApproved, umpire.CallDenied, umpire.CallExecuting, umpire.CallUnknown,
	umpire.CallSettled, umpire.CallDone,
}

// reach makes a session for each state of a call, named after the state. Its batch "b"
// has call c1 in that state and c2 approved behind it.
func (b *bench) reach() {
	b.Helper()
	for _, s := range callStates {
		b.session(umpire.SessionID(s))
		b.play(umpire.SessionID(s), "b", ways[s])
	}
}

// callWays tries every pair of states with a raw statement. The database must allow
// exactly the fold's single-event transitions.
func callWays(b *bench) {
	b.reach()
	for _, from := range callStates {
		legal := foldWays(b, umpire.SessionID(from))
		for _, to := range callStates {
			if from == to && from != umpire.CallDone {
				continue // nothing changes
			}
			statements := []string{fmt.Sprintf(`UPDATE calls SET state = '%s' WHERE session_id = '%s'
				AND call_id = 'c1'`, to, from)}
			if to == umpire.CallExecuting {
				statements = []string{execution(from, 1), fmt.Sprintf(
					`UPDATE calls SET state = 'executing', attempt = attempt + 1 WHERE session_id = '%s'
						AND call_id = 'c1'`, from)}
			}
			if from == umpire.CallAsked || from == umpire.CallUnknown {
				statements = append([]string{fmt.Sprintf(`UPDATE asks SET state = 'withdrawn'
					WHERE session_id = '%s'`, from)}, statements...)
			}
			err := b.raw(statements...)
			switch {
			case slices.Contains(legal, to) && err != nil:
				b.Errorf("%s to %s: the fold allows it, the database does not: %v", from, to, err)
			case !slices.Contains(legal, to) && err == nil:
				b.Errorf("%s to %s: the fold refuses it, the database does not", from, to)
			case err != nil && !names(err, "calls_transition calls_closed executions_insert calls_start"):
				b.Errorf("%s to %s: refused by another constraint: %v", from, to, err)
			}
		}
	}
}

func execution(session umpire.CallState, attempt int) string {
	return fmt.Sprintf(`INSERT INTO executions (session_id, call_id, attempt, effect, epoch, runner, process_group,
		started_at)
		VALUES ('%s', 'c1', %d, 'unknown', 0, '', 0, 0)`, session, attempt)
}

// foldWays returns the states that the fold allows for call c1 of a session after one event.
func foldWays(b *bench, s umpire.SessionID) (states []umpire.CallState) {
	var now umpire.Batch
	b.view(func(tx *store.Tx) (err error) {
		now, err = tx.Batches.Get(s, "b")
		return err
	})
	for _, kind := range []umpire.EventKind{
		umpire.EventPermissionAsked, umpire.EventPermissionApproved, umpire.EventPermissionRejected,
		umpire.EventCallStarted, umpire.EventCallFinished, umpire.EventCallIndeterminate,
	} {
		for _, request := range []umpire.RequestID{"", "new", now.Calls[0].Request} {
			for _, detail := range []batch.Detail{
				batch.Started{Attempt: now.Calls[0].Attempt + 1}, batch.Finished{Status: umpire.ResultOK},
				batch.Finished{Status: umpire.ResultError},
			} {
				next, err := batch.Apply(now, batch.Event{Detail: detail, Event: umpire.Event{
					Kind: kind, Session: s, Batch: "b", Call: "c1", Request: request,
				}})
				if err == nil && next.Calls[0].State != now.Calls[0].State {
					states = append(states, next.Calls[0].State)
				}
			}
		}
	}
	return states
}

// batchWays tries transitions of batches in the relevant circumstances.
func batchWays(b *bench) {
	b.reach()
	b.session("over")
	b.play("over", "b", done("c1"))
	b.session("answered")
	b.play("answered", "b", ways[umpire.CallAsked])
	b.update(func(tx *store.Tx) error { return tx.Asks.Close("answered/c1/1", store.AskWithdrawn) })
	b.session("ended")
	b.play("ended", "b", func(p *play) error {
		return all(
			func() error { return p.submit("", plan{"c1", umpire.CallDenied, umpire.EffectUnknown}) },
			func() error { return p.finish("c1", umpire.ResultDenied) }, p.end,
		)
	})
	const approve = `UPDATE calls SET state = 'approved' WHERE session_id = 'answered' AND call_id = 'c1'`
	const cancel = `UPDATE batches SET cancelled = TRUE WHERE session_id = 'answered'`
	const finish = `UPDATE calls SET state = 'finished' WHERE session_id = 'answered' AND state = 'approved'`
	for _, c := range []struct {
		session, before, set, refused string
	}{
		{"asked", "", "state = 'running', resumes = 1", "batches_resume"},
		{"asked", "", "state = 'running'", "batches_transition batches_resume"},
		{"asked", "", "state = 'finished'", "batches_transition batches_finish"},
		{"asked", "", "state = 'delivered'", "batches_transition batches_deliver"},
		{"asked", "", "resumes = 1", "batches_transition"},
		{"asked", "", "cancelled = TRUE", ""},
		{"answered", approve, "state = 'running', resumes = 1", ""},
		{"answered", approve, "state = 'running', resumes = 2", "batches_transition"},
		{"answered", approve, "state = 'running', resumes = 0", "batches_transition"},
		{"answered", approve + ";" + cancel, "cancelled = FALSE", "batches_transition"},
		{"answered", approve + ";" + finish, "state = 'finished'", "batches_transition"},
		{"answered", approve + ";" + finish + ";" + cancel, "state = 'finished'", ""},
		{"approved", "", "state = 'waiting'", ""},
		{"approved", "", "state = 'waiting', resumes = 1", "batches_transition"},
		{"approved", "", "state = 'finished'", "batches_finish"},
		{"approved", "", "state = 'delivered'", "batches_transition batches_deliver"},
		{"approved", "", "state = 'other'", "batches_transition batches_state"},
		{"ended", "", "state = 'running'", "batches_transition"},
		{"ended", "", "state = 'waiting'", "batches_transition"},
		{"ended", "", "cancelled = TRUE", "batches_transition"},
		{"ended", "", "state = 'delivered'", "batches_deliver"},
		{"over", "", "state = 'finished'", "batches_transition"},
		{"over", "", "state = 'running'", "batches_transition"},
		{"over", "", "state = 'waiting'", "batches_transition"},
		{"over", "", "cancelled = TRUE", "batches_transition"},
	} {
		statements := append(split(c.before), fmt.Sprintf(`UPDATE batches SET %s
			WHERE session_id = '%s'`, c.set, c.session))
		b.expect(c.refused, statements...)
	}
}
