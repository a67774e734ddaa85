-- The tables of the store. Constraints and triggers refuse what must never
-- happen, whoever writes: each trigger's message begins with the trigger's name.
--
-- Times are microseconds since 1970 in UTC; where there may be none, NULL is none. What is
-- JSON is stored as text.

CREATE TABLE sessions (
    session_id       TEXT    NOT NULL PRIMARY KEY,
    project_id       TEXT,   -- NULL is a session from before projects had ids
    project_root     TEXT    NOT NULL,
    working_dir      TEXT    NOT NULL,
    worktree         TEXT    NOT NULL,
    git_dir          TEXT    NOT NULL,
    is_root_session  INTEGER NOT NULL,
    parent           TEXT    NOT NULL,
    forked_from      TEXT    NOT NULL,
    agent            TEXT    NOT NULL,
    profile          TEXT    NOT NULL,
    mode             TEXT    NOT NULL,
    allow_bypass     INTEGER NOT NULL,
    headless         INTEGER NOT NULL,
    external         INTEGER NOT NULL,
    add_dirs         TEXT    NOT NULL,
    state            TEXT    NOT NULL,
    permission_state TEXT    NOT NULL,
    pending          INTEGER NOT NULL,
    blocked_reason   TEXT,
    epoch            INTEGER NOT NULL,
    runner           TEXT    NOT NULL,
    lease_until      INTEGER,
    turn             INTEGER NOT NULL,
    denials_in_row   INTEGER NOT NULL,
    denials          INTEGER NOT NULL,
    created_at       INTEGER NOT NULL,
    active_at        INTEGER NOT NULL,
    ended_at         INTEGER,
    CONSTRAINT sessions_id CHECK (session_id <> ''),
    CONSTRAINT sessions_project CHECK (project_id <> ''),
    CONSTRAINT sessions_mode CHECK (mode IN ('reject', 'default', 'auto', 'ask', 'plan', 'bypass')),
    CONSTRAINT sessions_state CHECK (state IN ('', 'idle', 'generating', 'waiting_permission', 'ended')),
    CONSTRAINT sessions_pair UNIQUE (session_id, project_id)
);

-- Who runs what is asked for each answer of a person, and each second.
CREATE INDEX sessions_running ON sessions (external, runner) WHERE runner <> '' AND state <> 'ended';
-- Sessions are listed page by page, the latest activity first.
CREATE INDEX sessions_active ON sessions (active_at, session_id);

CREATE TRIGGER sessions_insert BEFORE INSERT ON sessions
WHEN EXISTS (SELECT 1 FROM sessions WHERE session_id = NEW.session_id)
BEGIN
    SELECT RAISE(ABORT, 'sessions_insert: there is a session of this id');
END;

CREATE TRIGGER sessions_identity BEFORE UPDATE OF session_id, project_id ON sessions
WHEN NEW.session_id <> OLD.session_id OR OLD.project_id IS NOT NULL AND NEW.project_id IS NOT OLD.project_id
BEGIN
    SELECT RAISE(ABORT, 'sessions_identity: a session keeps its id and its project');
END;

CREATE TRIGGER sessions_epoch BEFORE UPDATE OF epoch ON sessions WHEN NEW.epoch < OLD.epoch
BEGIN
    SELECT RAISE(ABORT, 'sessions_epoch: an epoch only grows');
END;

-- The two indexes of projects follow the sessions by triggers, so that nothing
-- that changes a session can leave them behind.

CREATE TABLE project_sessions (
    session_id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL,
    CONSTRAINT project_sessions_session FOREIGN KEY (session_id, project_id) REFERENCES sessions (session_id, project_id) ON DELETE CASCADE,
    CONSTRAINT project_sessions_pair UNIQUE (project_id, session_id)
) WITHOUT ROWID;

CREATE TABLE project_last_root_session (
    project_id TEXT NOT NULL PRIMARY KEY,
    session_id TEXT NOT NULL,
    CONSTRAINT last_root_session FOREIGN KEY (project_id, session_id) REFERENCES project_sessions (project_id, session_id)
        ON DELETE CASCADE
) WITHOUT ROWID;

CREATE TRIGGER project_sessions_insert BEFORE INSERT ON project_sessions
WHEN EXISTS (SELECT 1 FROM project_sessions WHERE session_id = NEW.session_id)
BEGIN
    SELECT RAISE(ABORT, 'project_sessions_insert: the session is in the index');
END;

CREATE TRIGGER project_sessions_update BEFORE UPDATE ON project_sessions
BEGIN
    SELECT RAISE(ABORT, 'project_sessions_update: a session keeps its project');
END;

CREATE TRIGGER project_sessions_delete BEFORE DELETE ON project_sessions
WHEN EXISTS (SELECT 1 FROM sessions WHERE session_id = OLD.session_id)
BEGIN
    SELECT RAISE(ABORT, 'project_sessions_delete: the session is still there');
END;

-- The last root session of a project is the one with the latest activity, and of
-- several the one with the greatest id. It only moves to a later one, unless the
-- one that it names is not what it was.
CREATE TRIGGER last_root_insert BEFORE INSERT ON project_last_root_session
WHEN EXISTS (SELECT 1 FROM project_last_root_session WHERE project_id = NEW.project_id)
    OR NEW.session_id IS NOT (SELECT s.session_id FROM project_sessions AS p JOIN sessions AS s ON s.session_id = p.session_id
        WHERE p.project_id = NEW.project_id AND s.is_root_session ORDER BY s.active_at DESC, s.session_id DESC LIMIT 1)
BEGIN
    SELECT RAISE(ABORT, 'last_root_insert: it is not the latest root session of the project');
END;

CREATE TRIGGER last_root_update BEFORE UPDATE ON project_last_root_session
WHEN NEW.project_id <> OLD.project_id OR NOT EXISTS (
    SELECT 1 FROM sessions AS n JOIN sessions AS o ON o.session_id = OLD.session_id
    WHERE n.session_id = NEW.session_id AND n.is_root_session AND (n.active_at, n.session_id) > (o.active_at, o.session_id))
BEGIN
    SELECT RAISE(ABORT, 'last_root_update: it is not the latest root session of the project');
END;

CREATE TRIGGER last_root_delete BEFORE DELETE ON project_last_root_session
WHEN EXISTS (SELECT 1 FROM sessions WHERE session_id = OLD.session_id AND is_root_session)
BEGIN
    SELECT RAISE(ABORT, 'last_root_delete: the session is still there');
END;

CREATE TRIGGER sessions_index_insert AFTER INSERT ON sessions WHEN NEW.project_id IS NOT NULL
BEGIN
    INSERT INTO project_sessions (session_id, project_id) VALUES (NEW.session_id, NEW.project_id);
END;

CREATE TRIGGER sessions_index_project AFTER UPDATE OF project_id ON sessions
WHEN OLD.project_id IS NULL AND NEW.project_id IS NOT NULL
BEGIN
    INSERT INTO project_sessions (session_id, project_id) VALUES (NEW.session_id, NEW.project_id);
END;

-- A root session that enters the index takes the place of an earlier one.
CREATE TRIGGER last_root_enter AFTER INSERT ON project_sessions
WHEN EXISTS (SELECT 1 FROM sessions WHERE session_id = NEW.session_id AND is_root_session)
BEGIN
    INSERT INTO project_last_root_session (project_id, session_id) SELECT NEW.project_id, NEW.session_id
        WHERE NOT EXISTS (SELECT 1 FROM project_last_root_session WHERE project_id = NEW.project_id);
    UPDATE project_last_root_session SET session_id = NEW.session_id WHERE project_id = NEW.project_id AND EXISTS (
        SELECT 1 FROM sessions AS n JOIN sessions AS o ON o.session_id = project_last_root_session.session_id
        WHERE n.session_id = NEW.session_id AND (n.active_at, n.session_id) > (o.active_at, o.session_id));
END;

-- So does one that is active again.
CREATE TRIGGER last_root_active AFTER UPDATE OF active_at ON sessions
WHEN NEW.project_id IS NOT NULL AND NEW.is_root_session AND NEW.active_at > OLD.active_at
BEGIN
    UPDATE project_last_root_session SET session_id = NEW.session_id WHERE project_id = NEW.project_id AND EXISTS (
        SELECT 1 FROM sessions AS o WHERE o.session_id = project_last_root_session.session_id
            AND (NEW.active_at, NEW.session_id) > (o.active_at, o.session_id));
END;

-- What else may change the order happens seldom, and has the latest one looked for
-- among all.
CREATE TRIGGER last_root_change AFTER UPDATE OF is_root_session, active_at ON sessions
WHEN NEW.project_id IS NOT NULL AND (NEW.is_root_session <> OLD.is_root_session OR NEW.is_root_session AND NEW.active_at < OLD.active_at)
BEGIN
    DELETE FROM project_last_root_session WHERE project_id = NEW.project_id AND session_id = NEW.session_id AND NOT NEW.is_root_session;
    UPDATE project_last_root_session SET session_id = (
        SELECT s.session_id FROM project_sessions AS p JOIN sessions AS s ON s.session_id = p.session_id
        WHERE p.project_id = NEW.project_id AND s.is_root_session ORDER BY s.active_at DESC, s.session_id DESC LIMIT 1)
    WHERE project_id = NEW.project_id AND session_id <> (
        SELECT s.session_id FROM project_sessions AS p JOIN sessions AS s ON s.session_id = p.session_id
        WHERE p.project_id = NEW.project_id AND s.is_root_session ORDER BY s.active_at DESC, s.session_id DESC LIMIT 1);
    INSERT INTO project_last_root_session (project_id, session_id)
        SELECT p.project_id, s.session_id FROM project_sessions AS p JOIN sessions AS s ON s.session_id = p.session_id
        WHERE p.project_id = NEW.project_id AND s.is_root_session
            AND NOT EXISTS (SELECT 1 FROM project_last_root_session WHERE project_id = NEW.project_id)
        ORDER BY s.active_at DESC, s.session_id DESC LIMIT 1;
END;

-- Deleting a session removes its index rows by the foreign keys; then the next
-- latest root session takes its place.
CREATE TRIGGER sessions_index_delete AFTER DELETE ON sessions WHEN OLD.project_id IS NOT NULL
BEGIN
    DELETE FROM project_sessions WHERE session_id = OLD.session_id;
    INSERT INTO project_last_root_session (project_id, session_id)
        SELECT p.project_id, s.session_id FROM project_sessions AS p JOIN sessions AS s ON s.session_id = p.session_id
        WHERE p.project_id = OLD.project_id AND s.is_root_session
            AND NOT EXISTS (SELECT 1 FROM project_last_root_session WHERE project_id = OLD.project_id)
        ORDER BY s.active_at DESC, s.session_id DESC LIMIT 1;
END;

CREATE TABLE workspaces (
    project_id TEXT    NOT NULL,
    git_dir    TEXT    NOT NULL,
    allow_all  INTEGER NOT NULL,
    mode       TEXT,
    PRIMARY KEY (project_id, git_dir),
    CONSTRAINT workspaces_mode CHECK (mode IN ('reject', 'default', 'auto', 'ask', 'plan', 'bypass'))
) WITHOUT ROWID;

CREATE TABLE batches (
    session_id TEXT    NOT NULL,
    batch_id   TEXT    NOT NULL,
    seq        INTEGER NOT NULL, -- order within the session
    lane       TEXT    NOT NULL,
    turn       INTEGER NOT NULL,
    state      TEXT    NOT NULL,
    resumes    INTEGER NOT NULL,
    cancelled  INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (session_id, batch_id),
    CONSTRAINT batches_seq UNIQUE (session_id, seq),
    CONSTRAINT batches_session FOREIGN KEY (session_id) REFERENCES sessions (session_id) ON DELETE CASCADE,
    CONSTRAINT batches_id CHECK (batch_id <> ''),
    CONSTRAINT batches_state CHECK (state IN ('waiting', 'running', 'finished', 'delivered'))
) WITHOUT ROWID;

-- One open batch in a lane of a session.
CREATE UNIQUE INDEX batches_open ON batches (session_id, lane) WHERE state <> 'delivered';

CREATE TRIGGER batches_insert BEFORE INSERT ON batches
WHEN NEW.state NOT IN ('waiting', 'running') OR NEW.resumes <> 0 OR NEW.cancelled
    OR EXISTS (SELECT 1 FROM batches WHERE session_id = NEW.session_id AND batch_id = NEW.batch_id)
BEGIN
    SELECT RAISE(ABORT, 'batches_insert: a batch begins once, as waiting or running');
END;

CREATE TRIGGER batches_identity BEFORE UPDATE OF session_id, batch_id, seq, lane, turn, created_at ON batches
BEGIN
    SELECT RAISE(ABORT, 'batches_identity: what a batch is does not change');
END;

CREATE TRIGGER batches_transition BEFORE UPDATE OF state, resumes, cancelled ON batches
WHEN NOT (
    NEW.state = OLD.state AND NEW.resumes = OLD.resumes
        AND (NEW.cancelled = OLD.cancelled OR NEW.cancelled AND OLD.state IN ('waiting', 'running'))
    OR OLD.state = 'waiting' AND NEW.state = 'running' AND NEW.resumes = OLD.resumes + 1 AND NEW.cancelled = OLD.cancelled
    OR NEW.resumes = OLD.resumes AND NEW.cancelled = OLD.cancelled AND (
        OLD.state = 'running' AND NEW.state IN ('waiting', 'finished')
        OR OLD.state = 'waiting' AND NEW.state = 'finished' AND OLD.cancelled
        OR OLD.state = 'finished' AND NEW.state = 'delivered'))
BEGIN
    SELECT RAISE(ABORT, 'batches_transition: a batch does not go this way');
END;

CREATE TRIGGER batches_resume BEFORE UPDATE OF state ON batches
WHEN NEW.state = 'running' AND OLD.state <> 'running'
    AND EXISTS (SELECT 1 FROM calls WHERE session_id = NEW.session_id AND batch_id = NEW.batch_id AND state IN ('asked', 'indeterminate'))
BEGIN
    SELECT RAISE(ABORT, 'batches_resume: a call waits for an answer');
END;

CREATE TRIGGER batches_finish BEFORE UPDATE OF state ON batches
WHEN NEW.state = 'finished' AND OLD.state <> 'finished'
    AND EXISTS (SELECT 1 FROM calls WHERE session_id = NEW.session_id AND batch_id = NEW.batch_id AND state <> 'finished')
BEGIN
    SELECT RAISE(ABORT, 'batches_finish: a call is not finished');
END;

CREATE TRIGGER batches_deliver BEFORE UPDATE OF state ON batches
WHEN NEW.state = 'delivered' AND OLD.state <> 'delivered'
    AND NOT EXISTS (SELECT 1 FROM resumes WHERE session_id = NEW.session_id AND batch_id = NEW.batch_id AND delivered_at IS NOT NULL)
BEGIN
    SELECT RAISE(ABORT, 'batches_deliver: its results were not claimed and delivered');
END;

CREATE TRIGGER batches_delete BEFORE DELETE ON batches
WHEN EXISTS (SELECT 1 FROM sessions WHERE session_id = OLD.session_id)
BEGIN
    SELECT RAISE(ABORT, 'batches_delete: a batch stays as long as its session');
END;

CREATE TABLE calls (
    session_id  TEXT    NOT NULL,
    call_id     TEXT    NOT NULL,
    batch_id    TEXT    NOT NULL,
    ordinal     INTEGER NOT NULL, -- from 0, the model's order
    tool        TEXT    NOT NULL,
    args_hash   TEXT    NOT NULL,
    effect      TEXT    NOT NULL,
    background  INTEGER NOT NULL,
    turn        INTEGER NOT NULL,
    state       TEXT    NOT NULL,
    request_id  TEXT    NOT NULL,
    round       INTEGER NOT NULL,
    attempt     INTEGER NOT NULL,
    verdict     TEXT    NOT NULL,
    reason      TEXT    NOT NULL,
    reason_code TEXT    NOT NULL,
    working_dir TEXT    NOT NULL,
    agent       TEXT    NOT NULL,
    extra       TEXT,
    input       TEXT    NOT NULL, -- with secrets masked
    input_exact BLOB,             -- encrypted, where masking changed something
    PRIMARY KEY (session_id, call_id),
    CONSTRAINT calls_ordinal UNIQUE (session_id, batch_id, ordinal),
    CONSTRAINT calls_batch FOREIGN KEY (session_id, batch_id) REFERENCES batches (session_id, batch_id) ON DELETE CASCADE,
    CONSTRAINT calls_id CHECK (call_id <> '' AND ordinal >= 0),
    CONSTRAINT calls_effect CHECK (effect IN ('', 'pure', 'idempotent', 'reversible', 'unknown')),
    CONSTRAINT calls_state CHECK (state IN ('asked', 'approved', 'denied', 'executing', 'indeterminate', 'settled', 'finished')),
    CONSTRAINT calls_attempt CHECK (attempt <= 1 OR effect IN ('pure', 'idempotent')),
    CONSTRAINT calls_verdict CHECK (verdict IN ('deny', 'ask', 'allow'))
);

-- One call of a batch runs at a time.
CREATE UNIQUE INDEX calls_executing ON calls (session_id, batch_id) WHERE state = 'executing';
CREATE INDEX calls_same ON calls (session_id, turn, args_hash);
-- What waits and what has no result is asked for at each call of a batch, however many it has.
CREATE INDEX calls_waiting ON calls (session_id, batch_id, ordinal) WHERE state IN ('asked', 'indeterminate');
CREATE INDEX calls_unfinished ON calls (session_id, batch_id, ordinal) WHERE state <> 'finished';

CREATE TRIGGER calls_insert BEFORE INSERT ON calls
WHEN NEW.state NOT IN ('asked', 'approved', 'denied') OR NEW.attempt <> 0
    OR EXISTS (SELECT 1 FROM calls WHERE session_id = NEW.session_id AND call_id = NEW.call_id)
    OR NEW.state = 'asked' AND 'running' = (SELECT state FROM batches WHERE session_id = NEW.session_id AND batch_id = NEW.batch_id)
BEGIN
    SELECT RAISE(ABORT, 'calls_insert: a call begins once, as asked, approved or denied, and a batch with a question waits');
END;

CREATE TRIGGER calls_identity
BEFORE UPDATE OF session_id, call_id, batch_id, ordinal, tool, args_hash, effect, background, turn, working_dir, agent, extra, input, input_exact
ON calls
BEGIN
    SELECT RAISE(ABORT, 'calls_identity: what a call is does not change');
END;

CREATE TRIGGER calls_closed BEFORE UPDATE ON calls WHEN OLD.state = 'finished'
BEGIN
    SELECT RAISE(ABORT, 'calls_closed: a finished call does not change');
END;

CREATE TRIGGER calls_transition BEFORE UPDATE OF state, round, attempt ON calls
WHEN NEW.round < OLD.round OR NOT (
    NEW.state = OLD.state AND (NEW.attempt = OLD.attempt OR NEW.state = 'executing' AND NEW.attempt = OLD.attempt + 1)
    OR OLD.state = 'approved' AND NEW.state = 'executing' AND NEW.attempt = OLD.attempt + 1
    OR NEW.attempt = OLD.attempt AND (
        OLD.state = 'asked' AND NEW.state IN ('approved', 'denied')
        OR OLD.state = 'approved' AND NEW.state IN ('asked', 'denied', 'finished')
        OR OLD.state = 'denied' AND NEW.state = 'finished'
        OR OLD.state = 'executing' AND NEW.state IN ('indeterminate', 'settled', 'finished')
        OR OLD.state = 'indeterminate' AND NEW.state = 'settled'
        OR OLD.state = 'settled' AND NEW.state = 'finished'))
BEGIN
    SELECT RAISE(ABORT, 'calls_transition: a call does not go this way');
END;

-- A question that is pending still holds its call.
CREATE TRIGGER calls_answer BEFORE UPDATE OF state ON calls
WHEN OLD.state IN ('asked', 'indeterminate') AND NEW.state NOT IN ('asked', 'indeterminate')
    AND EXISTS (SELECT 1 FROM asks WHERE request_id IN (OLD.request_id, NEW.request_id) AND state = 'pending')
BEGIN
    SELECT RAISE(ABORT, 'calls_answer: the question about the call is pending');
END;

-- A call starts when its batch runs, nothing of the batch waits, everything before
-- it is finished, no person refused it, no trial of it runs, and its execution is written down.
CREATE TRIGGER calls_start BEFORE UPDATE OF state, attempt ON calls
WHEN NEW.state = 'executing' AND (OLD.state <> 'executing' OR NEW.attempt <> OLD.attempt) AND (
    NOT EXISTS (SELECT 1 FROM batches WHERE session_id = NEW.session_id AND batch_id = NEW.batch_id AND state = 'running' AND NOT cancelled)
    OR EXISTS (SELECT 1 FROM calls AS c WHERE c.session_id = NEW.session_id AND c.batch_id = NEW.batch_id
        AND c.ordinal < NEW.ordinal AND c.state <> 'finished')
    OR EXISTS (SELECT 1 FROM calls AS c WHERE c.session_id = NEW.session_id AND c.batch_id = NEW.batch_id
        AND c.state IN ('asked', 'indeterminate'))
    OR EXISTS (SELECT 1 FROM answers AS a JOIN asks AS k ON k.request_id = a.request_id
        WHERE k.session_id = NEW.session_id AND k.call_id = NEW.call_id AND a.answer <> 'approve')
    OR EXISTS (SELECT 1 FROM trials WHERE session_id = NEW.session_id AND call_id = NEW.call_id AND state = 'running')
    OR NOT EXISTS (SELECT 1 FROM executions AS e
        WHERE e.session_id = NEW.session_id AND e.call_id = NEW.call_id AND e.attempt = NEW.attempt))
BEGIN
    SELECT RAISE(ABORT, 'calls_start: the call may not run now');
END;

CREATE TRIGGER calls_delete BEFORE DELETE ON calls
WHEN EXISTS (SELECT 1 FROM batches WHERE session_id = OLD.session_id AND batch_id = OLD.batch_id)
BEGIN
    SELECT RAISE(ABORT, 'calls_delete: a call stays as long as its batch');
END;

CREATE TABLE asks (
    request_id   TEXT    NOT NULL PRIMARY KEY,
    session_id   TEXT    NOT NULL,
    batch_id     TEXT    NOT NULL,
    call_id      TEXT    NOT NULL,
    round        INTEGER NOT NULL,
    args_hash    TEXT    NOT NULL,
    shown_digest TEXT    NOT NULL,
    state        TEXT    NOT NULL,
    asked_at     INTEGER NOT NULL,
    expires_at   INTEGER,
    shown        TEXT    NOT NULL,
    CONSTRAINT asks_round UNIQUE (session_id, call_id, round),
    CONSTRAINT asks_call FOREIGN KEY (session_id, call_id) REFERENCES calls (session_id, call_id) ON DELETE CASCADE,
    CONSTRAINT asks_id CHECK (request_id <> ''),
    CONSTRAINT asks_state CHECK (state IN ('pending', 'answered', 'withdrawn'))
);

-- One question about a call waits at a time.
CREATE UNIQUE INDEX asks_pending ON asks (session_id, call_id) WHERE state = 'pending';
-- What waits is listed page by page, the oldest first.
CREATE INDEX asks_waiting ON asks (asked_at) WHERE state = 'pending';
-- Late ones are looked for each second.
CREATE INDEX asks_expiring ON asks (expires_at) WHERE state = 'pending' AND expires_at IS NOT NULL;

CREATE TRIGGER asks_insert BEFORE INSERT ON asks
WHEN NEW.state <> 'pending'
    OR EXISTS (SELECT 1 FROM asks WHERE request_id = NEW.request_id)
    OR NOT EXISTS (SELECT 1 FROM calls WHERE session_id = NEW.session_id AND call_id = NEW.call_id
        AND batch_id = NEW.batch_id AND args_hash = NEW.args_hash AND state <> 'finished')
BEGIN
    SELECT RAISE(ABORT, 'asks_insert: a question begins once, as pending, and is about the arguments of its call');
END;

CREATE TRIGGER asks_identity
BEFORE UPDATE OF request_id, session_id, batch_id, call_id, round, args_hash, shown_digest, asked_at, expires_at, shown ON asks
BEGIN
    SELECT RAISE(ABORT, 'asks_identity: what was asked does not change');
END;

CREATE TRIGGER asks_transition BEFORE UPDATE OF state ON asks
WHEN NEW.state <> OLD.state AND NOT (
    OLD.state = 'pending' AND NEW.state = 'answered' AND EXISTS (SELECT 1 FROM answers WHERE request_id = NEW.request_id)
    OR OLD.state = 'pending' AND NEW.state = 'withdrawn')
BEGIN
    SELECT RAISE(ABORT, 'asks_transition: a question is answered by its answer or withdrawn, once');
END;

CREATE TRIGGER asks_delete BEFORE DELETE ON asks
WHEN EXISTS (SELECT 1 FROM calls WHERE session_id = OLD.session_id AND call_id = OLD.call_id)
BEGIN
    SELECT RAISE(ABORT, 'asks_delete: a question stays as long as its call');
END;

CREATE TABLE answers (
    request_id      TEXT    NOT NULL PRIMARY KEY,
    args_hash       TEXT    NOT NULL,
    answer          TEXT    NOT NULL,
    scope           TEXT    NOT NULL,
    reason          TEXT    NOT NULL,
    reason_code     TEXT    NOT NULL,
    actor           TEXT    NOT NULL,
    channel         TEXT    NOT NULL,
    policy_revision TEXT    NOT NULL,
    at              INTEGER NOT NULL,
    CONSTRAINT answers_ask FOREIGN KEY (request_id) REFERENCES asks (request_id) ON DELETE CASCADE,
    CONSTRAINT answers_answer CHECK (answer IN ('approve', 'deny', 'cancel')),
    CONSTRAINT answers_scope CHECK (scope IN ('once', 'session', 'project', 'global'))
) WITHOUT ROWID;

CREATE TRIGGER answers_insert BEFORE INSERT ON answers
WHEN NOT EXISTS (SELECT 1 FROM asks WHERE request_id = NEW.request_id AND state = 'pending' AND args_hash = NEW.args_hash)
BEGIN
    SELECT RAISE(ABORT, 'answers_insert: an answer is to a pending question and about its arguments');
END;

CREATE TRIGGER answers_close AFTER INSERT ON answers
BEGIN
    UPDATE asks SET state = 'answered' WHERE request_id = NEW.request_id;
END;

CREATE TRIGGER answers_update BEFORE UPDATE ON answers
BEGIN
    SELECT RAISE(ABORT, 'answers_update: an answer stands');
END;

CREATE TRIGGER answers_delete BEFORE DELETE ON answers
WHEN EXISTS (SELECT 1 FROM asks WHERE request_id = OLD.request_id)
BEGIN
    SELECT RAISE(ABORT, 'answers_delete: an answer stands');
END;

CREATE TABLE grants (
    grant_id   TEXT    NOT NULL PRIMARY KEY,
    scope      TEXT    NOT NULL,
    project_id TEXT    NOT NULL,
    git_dir    TEXT    NOT NULL,
    session_id TEXT,   -- NULL outlives sessions
    call_id    TEXT    NOT NULL,
    request_id TEXT    NOT NULL,
    remembered INTEGER NOT NULL,
    tool       TEXT    NOT NULL,
    exact      TEXT    NOT NULL,
    covers     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    max_uses   INTEGER NOT NULL, -- 0 is no limit
    uses       INTEGER NOT NULL,
    revoked_at INTEGER,
    created_by TEXT    NOT NULL,
    CONSTRAINT grants_session FOREIGN KEY (session_id) REFERENCES sessions (session_id) ON DELETE CASCADE,
    CONSTRAINT grants_id CHECK (grant_id <> ''),
    CONSTRAINT grants_scope CHECK (scope IN ('once', 'session', 'project', 'global')),
    CONSTRAINT grants_uses CHECK (uses >= 0 AND max_uses >= 0 AND (max_uses = 0 OR uses <= max_uses))
) WITHOUT ROWID;

CREATE INDEX grants_by_session ON grants (session_id, call_id);
CREATE INDEX grants_lasting ON grants (session_id) WHERE scope <> 'once';
CREATE INDEX grants_global ON grants (scope) WHERE session_id IS NULL AND scope = 'global';
CREATE INDEX grants_by_project ON grants (project_id, git_dir) WHERE session_id IS NULL;

CREATE TRIGGER grants_insert BEFORE INSERT ON grants
WHEN NEW.revoked_at IS NOT NULL OR EXISTS (SELECT 1 FROM grants WHERE grant_id = NEW.grant_id)
BEGIN
    SELECT RAISE(ABORT, 'grants_insert: a grant begins once, in force');
END;

CREATE TRIGGER grants_identity
BEFORE UPDATE OF grant_id, scope, project_id, git_dir, session_id, call_id, request_id, remembered, tool, exact, covers,
    created_at, expires_at, max_uses, created_by ON grants
BEGIN
    SELECT RAISE(ABORT, 'grants_identity: what a grant covers does not change');
END;

CREATE TRIGGER grants_transition BEFORE UPDATE OF uses, revoked_at ON grants
WHEN NEW.uses < OLD.uses OR OLD.revoked_at IS NOT NULL AND (NEW.uses <> OLD.uses OR NEW.revoked_at IS NOT OLD.revoked_at)
BEGIN
    SELECT RAISE(ABORT, 'grants_transition: uses only grow, and what is revoked stays revoked and unused');
END;

CREATE TRIGGER grants_delete BEFORE DELETE ON grants
WHEN OLD.session_id IS NULL OR EXISTS (SELECT 1 FROM sessions WHERE session_id = OLD.session_id)
BEGIN
    SELECT RAISE(ABORT, 'grants_delete: a grant is revoked, not deleted');
END;

-- A ticket lets one command line of a host run once. The ticket itself is nowhere: digest is
-- its hash. It refers to no call, since there are tickets without a gate that records calls.
CREATE TABLE tickets (
    digest      TEXT    NOT NULL PRIMARY KEY,
    session_id  TEXT    NOT NULL,
    batch_id    TEXT    NOT NULL, -- '' where the call is not recorded
    call_id     TEXT    NOT NULL,
    action      TEXT    NOT NULL,
    line_digest TEXT    NOT NULL,
    line        BLOB,             -- encrypted, where the host does not hand it over
    working_dir TEXT    NOT NULL,
    user_id     INTEGER NOT NULL,
    host        TEXT    NOT NULL, -- the process
    state       TEXT    NOT NULL,
    issued_at   INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    CONSTRAINT tickets_digest CHECK (length(digest) = 64 AND length(line_digest) = 64),
    CONSTRAINT tickets_action CHECK (action IN ('trial', 'undo')),
    CONSTRAINT tickets_state CHECK (state IN ('issued', 'used', 'ended')),
    CONSTRAINT tickets_life CHECK (expires_at > issued_at)
) WITHOUT ROWID;

CREATE INDEX tickets_old ON tickets (issued_at);

CREATE TRIGGER tickets_insert BEFORE INSERT ON tickets
WHEN NEW.state <> 'issued' OR EXISTS (SELECT 1 FROM tickets WHERE digest = NEW.digest)
BEGIN
    SELECT RAISE(ABORT, 'tickets_insert: a ticket begins as issued');
END;

CREATE TRIGGER tickets_identity
BEFORE UPDATE OF digest, session_id, batch_id, call_id, action, line_digest, line, working_dir, user_id, host, issued_at,
    expires_at ON tickets
BEGIN
    SELECT RAISE(ABORT, 'tickets_identity: what a ticket is for does not change');
END;

CREATE TRIGGER tickets_transition BEFORE UPDATE OF state ON tickets
WHEN NOT (OLD.state = 'issued' AND NEW.state = 'used' OR OLD.state = 'used' AND NEW.state = 'ended')
BEGIN
    SELECT RAISE(ABORT, 'tickets_transition: a ticket is used once, and ends once');
END;

CREATE TABLE executions (
    session_id    TEXT    NOT NULL,
    call_id       TEXT    NOT NULL,
    attempt       INTEGER NOT NULL,
    effect        TEXT    NOT NULL,
    epoch         INTEGER NOT NULL,
    runner        TEXT    NOT NULL,
    process_group INTEGER NOT NULL,
    evidence      TEXT,
    started_at    INTEGER NOT NULL,
    PRIMARY KEY (session_id, call_id, attempt),
    CONSTRAINT executions_call FOREIGN KEY (session_id, call_id) REFERENCES calls (session_id, call_id) ON DELETE CASCADE,
    CONSTRAINT executions_attempt CHECK (attempt = 1 OR attempt > 1 AND effect IN ('pure', 'idempotent'))
) WITHOUT ROWID;

CREATE TRIGGER executions_insert BEFORE INSERT ON executions
WHEN NEW.attempt <> 1 + (SELECT COUNT(*) FROM executions WHERE session_id = NEW.session_id AND call_id = NEW.call_id)
    OR EXISTS (SELECT 1 FROM results WHERE session_id = NEW.session_id AND call_id = NEW.call_id)
    OR NOT EXISTS (SELECT 1 FROM calls AS c WHERE c.session_id = NEW.session_id AND c.call_id = NEW.call_id AND c.effect = NEW.effect
        AND (c.state IN ('approved', 'executing') OR c.state = 'asked' AND EXISTS (
            SELECT 1 FROM answers AS a WHERE a.request_id = c.request_id AND a.answer = 'approve')))
BEGIN
    SELECT RAISE(ABORT, 'executions_insert: an approved call without a result is started, one attempt after the other');
END;

CREATE TRIGGER executions_fence BEFORE INSERT ON executions
WHEN NEW.epoch <> 0 AND NEW.epoch < (SELECT epoch FROM sessions WHERE session_id = NEW.session_id)
BEGIN
    SELECT RAISE(ABORT, 'executions_fence: another runner has taken the session');
END;

CREATE TRIGGER executions_update BEFORE UPDATE ON executions
BEGIN
    SELECT RAISE(ABORT, 'executions_update: a start stands');
END;

CREATE TRIGGER executions_delete BEFORE DELETE ON executions
WHEN EXISTS (SELECT 1 FROM calls WHERE session_id = OLD.session_id AND call_id = OLD.call_id)
BEGIN
    SELECT RAISE(ABORT, 'executions_delete: a start stands');
END;

CREATE TABLE results (
    session_id   TEXT NOT NULL,
    call_id      TEXT NOT NULL,
    status       TEXT NOT NULL,
    reason_code  TEXT NOT NULL,
    at           INTEGER NOT NULL,
    output       BLOB NOT NULL, -- with secrets masked
    output_exact BLOB,
    PRIMARY KEY (session_id, call_id),
    CONSTRAINT results_call FOREIGN KEY (session_id, call_id) REFERENCES calls (session_id, call_id) ON DELETE CASCADE,
    CONSTRAINT results_status CHECK (status IN ('ok', 'error', 'denied', 'cancelled', 'timeout', 'indeterminate'))
);

CREATE TRIGGER results_insert BEFORE INSERT ON results
WHEN EXISTS (SELECT 1 FROM results WHERE session_id = NEW.session_id AND call_id = NEW.call_id)
    OR NEW.status = 'ok' AND NOT EXISTS (SELECT 1 FROM executions WHERE session_id = NEW.session_id AND call_id = NEW.call_id)
BEGIN
    SELECT RAISE(ABORT, 'results_insert: a call has one result, and a good one only if it was started');
END;

-- Nobody knows what became of the effects where nobody knows it of the call.
CREATE TRIGGER results_trial BEFORE INSERT ON results
WHEN NEW.status <> 'indeterminate' AND EXISTS (SELECT 1 FROM trials
    WHERE session_id = NEW.session_id AND call_id = NEW.call_id AND state IN ('running', 'waiting'))
BEGIN
    SELECT RAISE(ABORT, 'results_trial: the effects of a trial of the call are neither kept nor discarded');
END;

CREATE TRIGGER results_update BEFORE UPDATE ON results
BEGIN
    SELECT RAISE(ABORT, 'results_update: the first result stands');
END;

CREATE TRIGGER results_delete BEFORE DELETE ON results
WHEN EXISTS (SELECT 1 FROM calls WHERE session_id = OLD.session_id AND call_id = OLD.call_id)
BEGIN
    SELECT RAISE(ABORT, 'results_delete: the first result stands');
END;

CREATE TABLE trials (
    trial_id      TEXT    NOT NULL PRIMARY KEY,
    session_id    TEXT    NOT NULL,
    batch_id      TEXT    NOT NULL,
    call_id       TEXT    NOT NULL,
    project_id    TEXT    NOT NULL,
    round         INTEGER NOT NULL, -- which trial of the call, from 1
    state         TEXT    NOT NULL,
    base_digest   TEXT    NOT NULL, -- of what the call would do, as it was read when the trial began
    layer_digest  TEXT    NOT NULL,
    network       INTEGER NOT NULL,
    epoch         INTEGER NOT NULL,
    runner        TEXT    NOT NULL,
    exit_code     INTEGER NOT NULL,
    started_at    INTEGER NOT NULL,
    ran_at        INTEGER,
    settled_at    INTEGER,
    output        BLOB    NOT NULL, -- with secrets masked
    output_exact  BLOB,
    effects       TEXT    NOT NULL, -- JSON with secrets masked
    effects_exact BLOB,
    CONSTRAINT trials_round UNIQUE (session_id, call_id, round),
    CONSTRAINT trials_call FOREIGN KEY (session_id, call_id) REFERENCES calls (session_id, call_id) ON DELETE CASCADE,
    CONSTRAINT trials_id CHECK (trial_id <> ''),
    CONSTRAINT trials_state CHECK (state IN ('running', 'waiting', 'conflict', 'discarded', 'kept')),
    CONSTRAINT trials_layer CHECK (state IN ('running', 'discarded') OR layer_digest <> '' AND ran_at IS NOT NULL)
);

-- One trial runs in a project at a time, and one of a call is open.
CREATE UNIQUE INDEX trials_running ON trials (project_id) WHERE state = 'running';
CREATE UNIQUE INDEX trials_open ON trials (session_id, call_id) WHERE state IN ('running', 'waiting', 'conflict');

-- A trial is one of a call that is asked, in a batch that waits, when everything before it is finished.
CREATE TRIGGER trials_insert BEFORE INSERT ON trials
WHEN NEW.state NOT IN ('running')
    OR EXISTS (SELECT 1 FROM trials WHERE trial_id = NEW.trial_id)
    OR NEW.round <> 1 + (SELECT COUNT(*) FROM trials WHERE session_id = NEW.session_id AND call_id = NEW.call_id)
    OR NOT EXISTS (SELECT 1 FROM calls AS c JOIN batches AS b ON b.session_id = c.session_id AND b.batch_id = c.batch_id
        WHERE c.session_id = NEW.session_id AND c.call_id = NEW.call_id AND c.batch_id = NEW.batch_id
            AND c.state = 'asked' AND b.state = 'waiting' AND NOT b.cancelled
            AND NOT EXISTS (SELECT 1 FROM calls AS p WHERE p.session_id = c.session_id AND p.batch_id = c.batch_id
                AND p.ordinal < c.ordinal AND p.state <> 'finished'))
BEGIN
    SELECT RAISE(ABORT, 'trials_insert: a trial begins once, as running, of the next call of a batch, which is asked');
END;

CREATE TRIGGER trials_fence BEFORE INSERT ON trials
WHEN NEW.epoch <> 0 AND NEW.epoch < (SELECT epoch FROM sessions WHERE session_id = NEW.session_id)
BEGIN
    SELECT RAISE(ABORT, 'trials_fence: another runner has taken the session');
END;

CREATE TRIGGER trials_identity
BEFORE UPDATE OF trial_id, session_id, batch_id, call_id, project_id, round, base_digest, network, epoch, runner, started_at ON trials
BEGIN
    SELECT RAISE(ABORT, 'trials_identity: what a trial is does not change');
END;

CREATE TRIGGER trials_report
BEFORE UPDATE OF layer_digest, exit_code, ran_at, output, output_exact, effects, effects_exact ON trials WHEN OLD.state <> 'running'
BEGIN
    SELECT RAISE(ABORT, 'trials_report: what a trial did does not change');
END;

CREATE TRIGGER trials_transition BEFORE UPDATE OF state ON trials
WHEN NOT (
    NEW.state = OLD.state
    OR OLD.state = 'running' AND NEW.state IN ('waiting', 'discarded')
    OR OLD.state = 'waiting' AND NEW.state IN ('kept', 'discarded', 'conflict')
    OR OLD.state = 'conflict' AND NEW.state IN ('kept', 'discarded'))
BEGIN
    SELECT RAISE(ABORT, 'trials_transition: a trial does not go this way');
END;

-- Effects become real in an execution of the call.
CREATE TRIGGER trials_keep BEFORE UPDATE OF state ON trials
WHEN NEW.state IN ('kept', 'conflict') AND OLD.state <> NEW.state
    AND NOT EXISTS (SELECT 1 FROM executions WHERE session_id = NEW.session_id AND call_id = NEW.call_id)
BEGIN
    SELECT RAISE(ABORT, 'trials_keep: the call was not started');
END;

CREATE TRIGGER trials_delete BEFORE DELETE ON trials
WHEN EXISTS (SELECT 1 FROM calls WHERE session_id = OLD.session_id AND call_id = OLD.call_id)
BEGIN
    SELECT RAISE(ABORT, 'trials_delete: a trial stays as long as its call');
END;

CREATE TABLE resumes (
    session_id   TEXT    NOT NULL,
    batch_id     TEXT    NOT NULL,
    epoch        INTEGER NOT NULL,
    claimed_at   INTEGER NOT NULL,
    delivered_at INTEGER,
    PRIMARY KEY (session_id, batch_id),
    CONSTRAINT resumes_batch FOREIGN KEY (session_id, batch_id) REFERENCES batches (session_id, batch_id) ON DELETE CASCADE
) WITHOUT ROWID;

CREATE TRIGGER resumes_insert BEFORE INSERT ON resumes
WHEN NEW.delivered_at IS NOT NULL
    OR EXISTS (SELECT 1 FROM resumes WHERE session_id = NEW.session_id AND batch_id = NEW.batch_id)
    OR EXISTS (SELECT 1 FROM calls AS c WHERE c.session_id = NEW.session_id AND c.batch_id = NEW.batch_id
        AND NOT EXISTS (SELECT 1 FROM results AS r WHERE r.session_id = c.session_id AND r.call_id = c.call_id))
BEGIN
    SELECT RAISE(ABORT, 'resumes_insert: results are claimed once, when every call has one');
END;

CREATE TRIGGER resumes_update BEFORE UPDATE ON resumes
WHEN NEW.session_id <> OLD.session_id OR NEW.batch_id <> OLD.batch_id OR NEW.claimed_at IS NOT OLD.claimed_at
    OR OLD.delivered_at IS NOT NULL OR NEW.epoch < OLD.epoch
BEGIN
    SELECT RAISE(ABORT, 'resumes_update: a claim moves to a later epoch until it is delivered, and not after');
END;

CREATE TRIGGER resumes_delete BEFORE DELETE ON resumes
WHEN EXISTS (SELECT 1 FROM batches WHERE session_id = OLD.session_id AND batch_id = OLD.batch_id)
BEGIN
    SELECT RAISE(ABORT, 'resumes_delete: a claim stands');
END;

CREATE TABLE messages (
    session_id    TEXT    NOT NULL,
    n             INTEGER NOT NULL, -- from 1, without gaps
    role          TEXT    NOT NULL,
    batch_id      TEXT    NOT NULL,
    at            INTEGER NOT NULL,
    content       BLOB    NOT NULL, -- with secrets masked
    content_exact BLOB,
    PRIMARY KEY (session_id, n),
    CONSTRAINT messages_session FOREIGN KEY (session_id) REFERENCES sessions (session_id) ON DELETE CASCADE
);

CREATE TRIGGER messages_insert BEFORE INSERT ON messages
WHEN NEW.n <> 1 + COALESCE((SELECT MAX(n) FROM messages WHERE session_id = NEW.session_id), 0)
BEGIN
    SELECT RAISE(ABORT, 'messages_insert: messages are numbered without gaps');
END;

CREATE TRIGGER messages_update BEFORE UPDATE ON messages
BEGIN
    SELECT RAISE(ABORT, 'messages_update: a message stands');
END;

CREATE TRIGGER messages_delete BEFORE DELETE ON messages
WHEN EXISTS (SELECT 1 FROM sessions WHERE session_id = OLD.session_id)
BEGIN
    SELECT RAISE(ABORT, 'messages_delete: a message stands');
END;

CREATE TABLE prompts (
    session_id TEXT    NOT NULL,
    n          INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    text       BLOB    NOT NULL, -- with secrets masked
    text_exact BLOB,
    PRIMARY KEY (session_id, n),
    CONSTRAINT prompts_session FOREIGN KEY (session_id) REFERENCES sessions (session_id) ON DELETE CASCADE
);

-- The end of each chain of events. The chain of no session has the id ''.
CREATE TABLE streams (
    session_id  TEXT    NOT NULL PRIMARY KEY,
    session_seq INTEGER NOT NULL, -- how many events there are
    seq         INTEGER NOT NULL, -- of the last one
    hash        TEXT    NOT NULL
) WITHOUT ROWID;

INSERT INTO streams (session_id, session_seq, seq, hash) VALUES ('', 0, 0, '');

CREATE TABLE events (
    seq              INTEGER NOT NULL PRIMARY KEY, -- over all sessions
    session_id       TEXT    NOT NULL,
    session_seq      INTEGER NOT NULL, -- within the session, from 1, without gaps
    at               INTEGER NOT NULL,
    kind             TEXT    NOT NULL,
    project_id       TEXT    NOT NULL,
    batch_id         TEXT    NOT NULL,
    call_id          TEXT    NOT NULL,
    request_id       TEXT    NOT NULL,
    agent            TEXT    NOT NULL,
    tool             TEXT    NOT NULL,
    permission_state TEXT    NOT NULL,
    permission_type  TEXT    NOT NULL,
    risk_level       TEXT    NOT NULL,
    blocked_reason   TEXT,
    verdict          TEXT,
    reason           TEXT    NOT NULL,
    reason_code      TEXT    NOT NULL,
    rule_id          TEXT    NOT NULL,
    scope            TEXT,
    actor            TEXT    NOT NULL,
    accesses         TEXT,
    data             TEXT,
    prev_hash        TEXT    NOT NULL,
    hash             TEXT    NOT NULL,
    CONSTRAINT events_kind CHECK (kind <> '')
);

CREATE INDEX events_by_session ON events (session_id, seq);
CREATE INDEX events_by_project ON events (project_id, seq);

CREATE TRIGGER events_insert BEFORE INSERT ON events
WHEN NEW.session_seq <> 1 + COALESCE((SELECT session_seq FROM streams WHERE session_id = NEW.session_id), 0)
    OR NEW.prev_hash <> COALESCE((SELECT hash FROM streams WHERE session_id = NEW.session_id), '')
    OR length(NEW.hash) <> 64
    OR EXISTS (SELECT 1 FROM events WHERE seq = NEW.seq)
BEGIN
    SELECT RAISE(ABORT, 'events_insert: an event follows the last one of its session');
END;

CREATE TRIGGER events_order AFTER INSERT ON events WHEN NEW.seq <> (SELECT MAX(seq) FROM events)
BEGIN
    SELECT RAISE(ABORT, 'events_order: a new event has the greatest seq');
END;

CREATE TRIGGER events_extend AFTER INSERT ON events
BEGIN
    INSERT INTO streams (session_id, session_seq, seq, hash) VALUES (NEW.session_id, NEW.session_seq, NEW.seq, NEW.hash)
        ON CONFLICT (session_id) DO UPDATE SET session_seq = excluded.session_seq, seq = excluded.seq, hash = excluded.hash;
END;

CREATE TRIGGER events_update BEFORE UPDATE ON events
BEGIN
    SELECT RAISE(ABORT, 'events_update: an event stands');
END;

CREATE TRIGGER events_delete BEFORE DELETE ON events
BEGIN
    SELECT RAISE(ABORT, 'events_delete: an event stands');
END;

CREATE TRIGGER streams_insert BEFORE INSERT ON streams
WHEN NEW.session_seq <> 1 + COALESCE((SELECT session_seq FROM streams WHERE session_id = NEW.session_id), 0) OR NOT EXISTS (SELECT 1 FROM events WHERE seq = NEW.seq AND session_id = NEW.session_id AND session_seq = NEW.session_seq AND hash = NEW.hash)
BEGIN
    SELECT RAISE(ABORT, 'streams_insert: a chain ends with its last event');
END;

CREATE TRIGGER streams_update BEFORE UPDATE ON streams
WHEN NEW.session_id <> OLD.session_id OR NEW.session_seq <> OLD.session_seq + 1
    OR NOT EXISTS (SELECT 1 FROM events WHERE seq = NEW.seq AND session_id = NEW.session_id AND session_seq = NEW.session_seq AND hash = NEW.hash)
BEGIN
    SELECT RAISE(ABORT, 'streams_update: a chain ends with its last event');
END;

CREATE TRIGGER streams_delete BEFORE DELETE ON streams
BEGIN
    SELECT RAISE(ABORT, 'streams_delete: a chain stands');
END;

-- Counts the commits that failed. Writing it puts something else in their place
-- in the log.
CREATE TABLE failed_commits (
    n INTEGER NOT NULL
);
INSERT INTO failed_commits (n) VALUES (0);
