package storetest

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

func split(statements string) (all []string) {
	for s := range strings.SplitSeq(statements, ";") {
		if strings.TrimSpace(s) != "" {
			all = append(all, s)
		}
	}
	return all
}

// expect runs raw statements. One of the constraints must refuse the last one. Without
// constraints it must succeed.
func (b *bench) expect(constraints string, statements ...string) {
	b.Helper()
	err := b.raw(statements...)
	last := statements[len(statements)-1]
	switch {
	case constraints == "" && err != nil:
		b.Errorf("refused: %v", err)
	case constraints == "" || err != nil && strings.HasPrefix(err.Error(), last) && names(err, constraints):
	case err == nil:
		b.Errorf("not refused by %s: %s", constraints, last)
	default:
		b.Errorf("want %s to refuse, got %v", constraints, err)
	}
}

type refusal struct{ constraint, statements string }

// refusals are raw statements for illegal changes, with the constraint or trigger that
// refuses each. Statements before a semicolon prepare the last one. "ok" must succeed: it
// shows that the others are not refused because of their syntax.
var refusals = []refusal{
	// Large inputs.
	{"ok", largeInput},
	{"ok", largeInput + `; ` + largeCall},
	{"inputs_update", largeInput + `; UPDATE inputs SET packed = ''`},
	{"inputs_delete", largeInput + `; DELETE FROM inputs`},
	{"inputs_session foreign_key", `INSERT INTO inputs (session_id, digest, packed) VALUES ('none', 'd', '')`},
	{"calls_input", largeCall},
	{"calls_input_identity", `UPDATE calls SET input_digest = NULL`},
	{"calls_input_identity", `UPDATE calls SET input_size = 1`},
	// Sessions and their indexes.
	{"ok", `UPDATE sessions SET epoch = 5 WHERE session_id = 'asked'`},
	{"sessions_epoch", `UPDATE sessions SET epoch = 5 WHERE session_id = 'asked'; UPDATE sessions SET epoch = 4
		WHERE session_id = 'asked'`},
	{"sessions_identity", `UPDATE sessions SET project_id = 'q' WHERE session_id = 'asked'`},
	{"sessions_identity", `UPDATE sessions SET project_id = NULL WHERE session_id = 'asked'`},
	{"sessions_identity foreign_key", `UPDATE sessions SET session_id = 'x' WHERE session_id = 'asked'`},
	{"sessions_state", `UPDATE sessions SET state = 'other' WHERE session_id = 'asked'`},
	{"sessions_mode", `UPDATE sessions SET mode = 'other' WHERE session_id = 'asked'`},
	{"sessions_id", sessionRow("", "NULL")},
	{"sessions_project", sessionRow("new", "''")},
	{"ok", sessionRow("new", "NULL")},
	{"workspaces_mode", `INSERT INTO workspaces (project_id, git_dir, allow_all, mode)
		VALUES ('p', '', FALSE, 'other')`},
	{"project_sessions_delete", `DELETE FROM project_sessions WHERE session_id = 'asked'`},
	{"project_sessions_update", `UPDATE project_sessions SET project_id = 'q' WHERE session_id = 'asked'`},
	{"foreign_key", `INSERT INTO project_sessions (session_id, project_id) VALUES ('none', 'p')`},
	{"last_root_update", `UPDATE project_last_root_session SET session_id = 'asked'`},
	{"last_root_update", `UPDATE project_last_root_session SET project_id = 'q'`},
	{"last_root_delete", `DELETE FROM project_last_root_session`},
	{"last_root_insert", `INSERT INTO project_last_root_session (project_id, session_id) VALUES ('of child', 'child')`},
	{"last_root_insert foreign_key", `INSERT INTO project_last_root_session (project_id, session_id)
		VALUES ('q', 'asked')`},

	// Batches.
	{"batches_open", batchRow("asked", "b2", "9", "waiting")},
	{"batches_seq", batchRow("delivered", "b2", "1", "waiting")},
	{"ok", batchRow("delivered", "b2", "9", "waiting")},
	{"batches_insert", batchRow("delivered", "b2", "9", "finished")},
	{"batches_insert", batchRow("delivered", "b2", "9", "delivered")},
	{"batches_insert batches_pkey", batchRow("delivered", "b", "9", "waiting")},
	{"batches_id", batchRow("delivered", "", "9", "waiting")},
	{"foreign_key", batchRow("none", "b", "9", "waiting")},
	{"batches_identity", `UPDATE batches SET lane = 'x' WHERE session_id = 'asked'`},
	{"batches_identity", `UPDATE batches SET seq = 9 WHERE session_id = 'asked'`},
	{"batches_delete", `DELETE FROM batches WHERE session_id = 'asked'`},

	// Calls.
	{"ok", callRow("asked", "c3", "2", "asked")},
	{"calls_id", callRow("asked", "", "2", "asked")},
	{"calls_id", callRow("asked", "c3", "-1", "asked")},
	{"calls_effect", strings.Replace(callRow("asked", "c3", "2", "asked"), "'unknown'", "'other'", 1)},
	{"calls_verdict", strings.Replace(callRow("asked", "c3", "2", "asked"), "'deny'", "'other'", 1)},
	{"calls_ordinal", callRow("asked", "c3", "0", "asked")},
	{"calls_insert calls_pkey", callRow("asked", "c1", "2", "asked")},
	{"calls_insert", callRow("approved", "c3", "2", "asked")},
	{"calls_insert", callRow("approved", "c3", "2", "executing")},
	{"calls_insert", callRow("approved", "c3", "2", "finished")},
	{"calls_insert calls_state", callRow("approved", "c3", "2", "other")},
	{"calls_identity", `UPDATE calls SET input = 'x' WHERE session_id = 'asked'`},
	{"calls_identity", `UPDATE calls SET args_hash = 'x' WHERE session_id = 'asked'`},
	{"calls_identity", `UPDATE calls SET tool = 'x' WHERE session_id = 'asked'`},
	{"calls_identity", `UPDATE calls SET effect = 'pure' WHERE session_id = 'executing'`},
	{"calls_identity", `UPDATE calls SET ordinal = 9 WHERE session_id = 'asked' AND call_id = 'c1'`},
	{"calls_closed", `UPDATE calls SET reason = 'x' WHERE session_id = 'finished' AND call_id = 'c1'`},
	{"calls_transition", `UPDATE calls SET round = 0 WHERE session_id = 'asked' AND call_id = 'c1'`},
	{"calls_delete", `DELETE FROM calls WHERE session_id = 'asked'`},
	{"calls_answer", `UPDATE calls SET state = 'approved' WHERE session_id = 'asked' AND call_id = 'c1'`},
	{"calls_answer", `UPDATE calls SET state = 'denied' WHERE session_id = 'asked' AND call_id = 'c1'`},
	{"calls_answer", `UPDATE calls SET state = 'settled' WHERE session_id = 'indeterminate' AND call_id = 'c1'`},

	// Starting a call.
	{"ok", startRow("approved", "c1", "1", "unknown") + startCall("approved", "c1")},
	// the start is not recorded
	{"calls_start", startCall("approved", "c1")},
	{"calls_start", startRow("approved", "c2", "1", "unknown") + startCall("approved", "c2")},   // c1 is not finished
	{"calls_start", startRow("executing", "c2", "1", "unknown") + startCall("executing", "c2")}, // c1 runs
	{"calls_start", startRow("asked", "c2", "1", "unknown") + startCall("asked", "c2")},         // the batch waits
	{"calls_start", `UPDATE batches SET cancelled = TRUE WHERE session_id = 'approved';` +
		startRow("approved", "c1", "1", "unknown") + startCall("approved", "c1")},
	{"calls_start", `UPDATE batches SET state = 'waiting' WHERE session_id = 'approved';` +
		startRow("approved", "c1", "1", "unknown") + startCall("approved", "c1")},
	{"calls_transition calls_start", startRow("approved", "c1", "1", "unknown") +
		`UPDATE calls SET state = 'executing' WHERE session_id = 'approved' AND call_id = 'c1'`}, // attempt stays 0
	{"executions_insert", startRow("asked", "c1", "1", "unknown")},
	{"executions_insert", startRow("denied", "c1", "1", "unknown")},
	{"executions_insert", startRow("finished", "c1", "1", "unknown")},
	{"executions_insert", startRow("indeterminate", "c1", "2", "unknown")},
	{"executions_insert", startRow("approved", "c1", "2", "unknown")},
	{"executions_insert", startRow("approved", "c1", "1", "pure")}, // the call has another effect
	{"executions_insert executions_attempt", startRow("executing", "c1", "2", "unknown")},
	{"ok", startRow("repeatable", "c1", "2", "pure") + startCall("repeatable", "c1")},
	{"executions_insert executions_pkey", startRow("repeatable", "c1", "1", "pure")},
	{"executions_fence", `UPDATE sessions SET epoch = 5
		WHERE session_id = 'approved'; ` + strings.Replace(startRow("approved", "c1", "1", "unknown"), "0, '', 0, 0",
		"4, '', 0, 0", 1)},
	{"executions_update", `UPDATE executions SET runner = 'x'`},
	{"executions_delete", `DELETE FROM executions`},
	{"calls_attempt calls_start calls_transition", `UPDATE calls SET attempt = 2 WHERE session_id = 'executing'
		AND call_id = 'c1'`},

	// Questions and answers.
	{"asks_pending", askRow("asked", "c1", "2", "hash of c1", "pending")},
	{"asks_round", `UPDATE asks SET state = 'withdrawn'
		WHERE session_id = 'asked';` + askRow("asked", "c1", "1", "hash of c1", "pending")},
	{"ok", askRow("asked", "c2", "1", "hash of c2", "pending")},
	{"asks_id", strings.Replace(askRow("asked", "c2", "1", "hash of c2", "pending"), "'new'", "''", 1)},
	{"asks_insert", askRow("asked", "c2", "1", "another hash", "pending")},
	{"asks_insert", askRow("asked", "c2", "1", "hash of c2", "answered")},
	{"asks_insert", askRow("finished", "c1", "1", "hash of c1", "pending")},
	{"asks_insert foreign_key", askRow("asked", "c9", "1", "hash of c9", "pending")},
	{"asks_identity", `UPDATE asks SET args_hash = 'x' WHERE session_id = 'asked'`},
	{"asks_identity", `UPDATE asks SET shown = 'x' WHERE session_id = 'asked'`},
	{"asks_transition", `UPDATE asks SET state = 'answered' WHERE session_id = 'asked'`},
	{"asks_transition", `UPDATE asks SET state = 'pending' WHERE session_id = 'settled'`},
	{"asks_transition", `UPDATE asks SET state = 'withdrawn' WHERE session_id = 'settled'`},
	{"asks_transition", `UPDATE asks SET state = 'withdrawn'
		WHERE session_id = 'asked'; UPDATE asks SET state = 'pending' WHERE session_id = 'asked'`},
	{"asks_delete", `DELETE FROM asks WHERE session_id = 'asked'`},
	{"ok", answerRow("asked/c1/1", "hash of c1", "approve")},
	{"answers_insert", answerRow("asked/c1/1", "another hash", "approve")},
	{"answers_insert", answerRow("none", "hash of c1", "approve")},
	{"answers_insert", answerRow("settled/c1/1", "hash of c1", "deny")},
	{"answers_insert", answerRow("asked/c1/1", "hash of c1", "deny") + answerRow("asked/c1/1", "hash of c1",
		"approve")},
	{"answers_insert", `UPDATE asks SET state = 'withdrawn'
		WHERE session_id = 'asked';` + answerRow("asked/c1/1", "hash of c1", "approve")},
	{"answers_answer", answerRow("asked/c1/1", "hash of c1", "perhaps")},
	{"answers_scope", strings.Replace(answerRow("asked/c1/1", "hash of c1", "approve"), "'once'", "'other'", 1)},
	{"answers_update", `UPDATE answers SET answer = 'approve'`},
	{"answers_delete", `DELETE FROM answers`},

	// Grants.
	{"ok", `UPDATE grants SET uses = 1 WHERE grant_id = 'once'`},
	{"grants_uses", `UPDATE grants SET uses = 2 WHERE grant_id = 'once'`},
	{"grants_uses grants_transition", `UPDATE grants SET uses = -1 WHERE grant_id = 'once'`},
	{"grants_transition", `UPDATE grants SET uses = 1 WHERE grant_id = 'once'; UPDATE grants SET uses = 0
		WHERE grant_id = 'once'`},
	{"grants_transition", `UPDATE grants SET revoked_at = 1 WHERE grant_id = 'once'; UPDATE grants SET uses = 1
		WHERE grant_id = 'once'`},
	{"grants_transition", `UPDATE grants SET revoked_at = 1 WHERE grant_id = 'once'; UPDATE grants SET revoked_at = NULL
		WHERE grant_id = 'once'`},
	{"ok", grantRow("new", "once", "NULL")},
	{"grants_insert", grantRow("new", "once", "1")},
	{"grants_id", grantRow("", "once", "NULL")},
	{"grants_scope", grantRow("new", "other", "NULL")},
	{"grants_insert grants_pkey", grantRow("once", "once", "NULL")},
	{"grants_identity", `UPDATE grants SET tool = 'x' WHERE grant_id = 'once'`},
	{"grants_identity", `UPDATE grants SET max_uses = 0 WHERE grant_id = 'once'`},
	{"grants_identity", `UPDATE grants SET expires_at = NULL WHERE grant_id = 'once'`},
	{"grants_delete", `DELETE FROM grants`},

	// Tickets.
	{"ok", ticketRow("new", "trial", "issued")},
	{"tickets_digest", ticketRow("", "trial", "issued")},
	{"tickets_action", ticketRow("new", "other", "issued")},
	{"tickets_insert", ticketRow("new", "trial", "used")},
	{"tickets_insert tickets_pkey", ticketRow("new", "trial", "issued") + ";" + ticketRow("new", "trial", "issued")},
	{"tickets_identity", ticketRow("new", "trial", "issued") + `; UPDATE tickets SET working_dir = '/x'`},
	{"tickets_identity", ticketRow("new", "trial", "issued") + `; UPDATE tickets SET expires_at = 9`},
	{"tickets_transition", ticketRow("new", "trial", "issued") + `; UPDATE tickets SET state = 'ended'`},
	{"tickets_transition", ticketRow("new", "trial", "issued") + `; UPDATE tickets SET state = 'used';
		UPDATE tickets SET state = 'used'`},
	{"tickets_transition", ticketRow("new", "trial", "issued") + `; UPDATE tickets SET state = 'used';
		UPDATE tickets SET state = 'issued'`},

	// Results, claims and messages.
	{"ok", resultRow("executing", "ok")},
	{"results_insert results_pkey", resultRow("finished", "ok")},
	{"results_insert", resultRow("approved", "ok")},
	{"results_status", resultRow("approved", "other")},
	{"results_insert", resultRow("executing", "error") + resultRow("executing", "ok")},
	{"results_update", `UPDATE results SET status = 'error'`},
	{"results_delete", `DELETE FROM results`},
	{"resumes_insert", claimRow("executing")},
	{"resumes_insert resumes_pkey", claimRow("delivered")},
	{"resumes_update", `UPDATE resumes SET epoch = 9 WHERE session_id = 'delivered'`},
	{"resumes_update", `UPDATE resumes SET delivered_at = NULL WHERE session_id = 'delivered'`},
	{"resumes_delete", `DELETE FROM resumes`},
	{"messages_insert", `INSERT INTO messages (session_id, n, role, batch_id, at, content)
		VALUES ('asked', 2, '', '', 0, '')`},
	{"ok", `INSERT INTO messages (session_id, n, role, batch_id, at, content) VALUES ('asked', 1, '', '', 0, '')`},
	{"messages_update", `INSERT INTO messages (session_id, n, role, batch_id, at, content)
		VALUES ('asked', 1, '', '', 0, '');
		UPDATE messages SET role = 'x'`},
	{"messages_delete", `INSERT INTO messages (session_id, n, role, batch_id, at, content)
		VALUES ('asked', 1, '', '', 0, '');
		DELETE FROM messages`},

	// Events.
	{"ok", strings.Replace(eventRow("3", "last"), "99)", "(SELECT 1 + MAX(seq) FROM events))", 1)},
	{"events_kind", strings.Replace(eventRow("3", "last"), "'x'", "''", 1)},
	{"events_insert", strings.Replace(eventRow("3", "last"), strings.Repeat("0", 64), "short", 1)},
	{"events_insert", eventRow("4", "last")},
	{"events_insert", eventRow("2", "first")},
	{"events_insert", eventRow("3", "none")},
	{"events_insert", eventRow("4", "first")},
	{"events_update", `UPDATE events SET reason = 'x'`},
	{"events_delete", `DELETE FROM events`},
	{"streams_update", `UPDATE streams SET session_seq = session_seq + 1`},
	{"streams_update", `UPDATE streams SET hash = 'x'`},
	{"streams_insert", `INSERT INTO streams (session_id, session_seq, seq, hash) VALUES ('new', 1, 1, '')`},
	{"streams_insert streams_pkey", `INSERT INTO streams (session_id, session_seq, seq, hash)
		SELECT session_id, session_seq, seq, hash FROM events`},
	{"streams_delete", `DELETE FROM streams`},
}

func sessionRow(id, project string) string {
	return `INSERT INTO sessions (session_id, project_id, project_root, working_dir, worktree, git_dir, is_root_session,
		parent, forked_from, agent,
			profile, mode, allow_bypass, headless, external, add_dirs, state, permission_state, pending, epoch, runner,
				turn, denials_in_row, denials,
			created_at, active_at)
		VALUES ('` + id + `', ` + project + `, '', '', '', '', FALSE, '', '', '', '', 'auto', FALSE, FALSE, FALSE, '',
			'', '', 0, 0, '', 0, 0, 0, 0, 0)`
}

func grantRow(id, scope, revoked string) string {
	return `INSERT INTO grants (grant_id, scope, project_id, git_dir, call_id, request_id, remembered, tool, exact,
		covers, created_at, max_uses,
			uses, revoked_at, created_by)
		VALUES ('` + id + `', '` + scope + `', '', '', '', '', FALSE, '', '', '{}', 0, 0, 0, ` + revoked + `, '')`
}

func batchRow(session, id, seq, state string) string {
	return `INSERT INTO batches (session_id, batch_id, seq, lane, turn, state, resumes, cancelled, created_at)
		VALUES ('` + session + `', '` + id + `', ` + seq + `, '', 1, '` + state + `', 0, FALSE, 0)`
}

func callRow(session, id, ordinal, state string) string {
	return `INSERT INTO calls (session_id, call_id, batch_id, ordinal, tool, args_hash, effect, background, turn, state,
		request_id,
			round, attempt, verdict, reason, reason_code, working_dir, agent, input)
		VALUES ('` + session + `', '` + id + `', 'b', ` + ordinal + `, 't', 'h', 'unknown', FALSE, 1, '` + state + `',
			'', 0, 0, 'deny', '', '', '', '', '')`
}

func startRow(session, call, attempt, effect string) string {
	return `INSERT INTO executions (session_id, call_id, attempt, effect, epoch, runner, process_group, started_at)
		VALUES ('` + session + `', '` + call + `', ` + attempt + `, '` + effect + `', 0, '', 0, 0);`
}

func startCall(session, call string) string {
	return `UPDATE calls SET state = 'executing', attempt = attempt + 1 WHERE session_id = '` + session + `'
		AND call_id = '` + call + `';`
}

func askRow(session, call, round, hash, state string) string {
	return `INSERT INTO asks (request_id, session_id, batch_id, call_id, round, args_hash, shown_digest, state,
		asked_at, shown)
		VALUES ('new', '` + session + `', 'b', '` + call + `', ` + round + `, '` + hash + `', '', '` + state + `', 0,
			'')`
}

func answerRow(request, hash, answer string) string {
	return `INSERT INTO answers (request_id, args_hash, answer, scope, reason, reason_code, actor, channel,
		policy_revision, at)
		VALUES ('` + request + `', '` + hash + `', '` + answer + `', 'once', '', '', '', '', '', 0);`
}

func resultRow(session, status string) string {
	return `INSERT INTO results (session_id, call_id, status, reason_code, at, output)
		VALUES ('` + session + `', 'c1', '` + status + `', '', 0, '');`
}

func claimRow(session string) string {
	return `INSERT INTO resumes (session_id, batch_id, epoch, claimed_at) VALUES ('` + session + `', 'b', 1, 0)`
}

func eventRow(number, after string) string {
	prev := `'none'`
	switch after {
	case "first":
		prev = `(SELECT hash FROM events WHERE session_id = 'asked' AND session_seq = 1)`
	case "last":
		prev = `(SELECT hash FROM streams WHERE session_id = 'asked')`
	}
	return `INSERT INTO events (session_id, session_seq, at, kind, project_id, batch_id, call_id, request_id, agent,
		tool,
			permission_state, permission_type, risk_level, reason, reason_code, rule_id, actor, prev_hash, hash, seq)
		VALUES ('asked', ` + number + `, 0, 'x', '', '', '', '', '', '', '', '', '', '', '', '', '', ` + prev + `,
			'` + strings.Repeat("0", 64) + `', 99)`
}

// rawRefused runs the statements on sessions in every state. Those that succeed show that
// the others are not refused because of their syntax.
func rawRefused(b *bench) {
	b.reach()
	b.session("delivered")
	b.play("delivered", "b", done("c1"))
	b.session("repeatable")
	b.play("repeatable", "b", func(p *play) error {
		return all(func() error { return p.submit("", pure("c1")) }, func() error { return p.start("c1") })
	})
	b.update(func(tx *store.Tx) error {
		once := store.GrantRow{ID: "once", Scope: umpire.ScopeOnce, Session: "asked", Project: "p", Call: "c1",
			MaxUses: 1}
		return tx.Grants.Insert(once)
	})
	b.update(func(tx *store.Tx) error { return tx.Sessions.Insert(umpire.Session{ID: "child", Project: "of child"}) })
	b.session("latest") // makes "asked" not the last root session
	for _, r := range slices.Concat(refusals, prunedRefusals) {
		constraints := r.constraint
		if constraints == "ok" {
			constraints = ""
		}
		b.expect(constraints, split(r.statements)...)
	}
	// Without the triggers, the constraints refuse the same changes.
	b.expect("calls_executing", b.drop("calls_start", "calls"),
		startRow("executing", "c2", "1", "unknown"), startCall("executing", "c2"))
	b.expect("batches_state", b.drop("batches_transition", "batches"), `UPDATE batches SET state = 'other'
		WHERE session_id = 'asked'`)
	b.expect("calls_state", b.drop("calls_transition", "calls"), `UPDATE calls SET state = 'other'
		WHERE session_id = 'approved' AND call_id = 'c1'`)
	b.expect("asks_state", b.drop("asks_transition", "asks"), `UPDATE asks SET state = 'other'
		WHERE session_id = 'asked'`)
	b.expect("calls_attempt", b.drop("calls_transition", "calls"), b.drop("calls_start", "calls"),
		`UPDATE calls SET attempt = 2 WHERE session_id = 'executing' AND call_id = 'c1'`)
	b.expect("executions_attempt", b.drop("executions_insert", "executions"),
		startRow("executing", "c1", "2", "unknown"))
}
