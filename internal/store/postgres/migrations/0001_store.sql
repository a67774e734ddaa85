-- The tables of the store. Constraints and triggers refuse what must never
-- happen, whoever writes; the error names the constraint or the trigger.
--
-- Times are microseconds since 1970 in UTC; where there may be none, NULL is none.
-- What is JSON is stored as text, so that it is given back as it was.

-- refuse ends the statement in the name of a trigger.
CREATE FUNCTION refuse(name TEXT, why TEXT) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%: %', name, why USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = name;
END $$;

-- refuse_row is a trigger that refuses every row its WHEN lets through.
CREATE FUNCTION refuse_row() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    PERFORM refuse(TG_NAME::TEXT, TG_ARGV[0]);
    RETURN NULL;
END $$;

CREATE TABLE sessions (
    session_id       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project_id       TEXT COLLATE "C", -- NULL is a session from before projects had ids
    project_root     TEXT    NOT NULL,
    working_dir      TEXT    NOT NULL,
    worktree         TEXT    NOT NULL,
    git_dir          TEXT    NOT NULL,
    is_root_session  BOOLEAN NOT NULL,
    parent           TEXT    NOT NULL,
    forked_from      TEXT    NOT NULL,
    agent            TEXT    NOT NULL,
    profile          TEXT    NOT NULL,
    mode             TEXT    NOT NULL,
    allow_bypass     BOOLEAN NOT NULL,
    headless         BOOLEAN NOT NULL,
    external         BOOLEAN NOT NULL,
    add_dirs         TEXT    NOT NULL,
    state            TEXT    NOT NULL,
    permission_state TEXT    NOT NULL,
    pending          BIGINT  NOT NULL,
    blocked_reason   TEXT,
    epoch            BIGINT  NOT NULL,
    runner           TEXT    NOT NULL,
    lease_until      BIGINT,
    turn             BIGINT  NOT NULL,
    denials_in_row   BIGINT  NOT NULL,
    denials          BIGINT  NOT NULL,
    created_at       BIGINT  NOT NULL,
    active_at        BIGINT  NOT NULL,
    ended_at         BIGINT,
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

CREATE TRIGGER sessions_identity BEFORE UPDATE OF session_id, project_id ON sessions FOR EACH ROW
WHEN (NEW.session_id <> OLD.session_id OR OLD.project_id IS NOT NULL AND NEW.project_id IS DISTINCT FROM OLD.project_id)
EXECUTE FUNCTION refuse_row('a session keeps its id and its project');

CREATE TRIGGER sessions_epoch BEFORE UPDATE OF epoch ON sessions FOR EACH ROW
WHEN (NEW.epoch < OLD.epoch) EXECUTE FUNCTION refuse_row('an epoch only grows');

-- The two indexes of projects follow the sessions by triggers, so that nothing
-- that changes a session can leave them behind.

CREATE TABLE project_sessions (
    session_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project_id TEXT COLLATE "C" NOT NULL,
    CONSTRAINT project_sessions_session FOREIGN KEY (session_id, project_id) REFERENCES sessions (session_id, project_id) ON DELETE CASCADE,
    CONSTRAINT project_sessions_pair UNIQUE (project_id, session_id)
);

CREATE TABLE project_last_root_session (
    project_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    session_id TEXT COLLATE "C" NOT NULL,
    CONSTRAINT last_root_session FOREIGN KEY (project_id, session_id) REFERENCES project_sessions (project_id, session_id)
        ON DELETE CASCADE
);

CREATE FUNCTION latest_root(project TEXT) RETURNS TEXT LANGUAGE sql AS $$
    SELECT s.session_id FROM project_sessions AS p JOIN sessions AS s ON s.session_id = p.session_id
    WHERE p.project_id = project AND s.is_root_session ORDER BY s.active_at DESC, s.session_id DESC LIMIT 1
$$;

-- is_later reports whether a root session was active after another one.
CREATE FUNCTION is_later(session TEXT, other TEXT) RETURNS BOOLEAN LANGUAGE sql AS $$
    SELECT EXISTS (SELECT 1 FROM sessions AS n JOIN sessions AS o ON o.session_id = other
        WHERE n.session_id = session AND n.is_root_session AND (n.active_at, n.session_id) > (o.active_at, o.session_id))
$$;

CREATE TRIGGER project_sessions_update BEFORE UPDATE ON project_sessions FOR EACH ROW
EXECUTE FUNCTION refuse_row('a session keeps its project');

CREATE FUNCTION project_sessions_delete() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM sessions WHERE session_id = OLD.session_id) THEN
        PERFORM refuse('project_sessions_delete', 'the session is still there');
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER project_sessions_delete BEFORE DELETE ON project_sessions FOR EACH ROW EXECUTE FUNCTION project_sessions_delete();

-- The last root session of a project is the one with the latest activity, and of
-- several the one with the greatest id. It only moves to a later one, unless the
-- one that it names is not what it was.
CREATE FUNCTION last_root_insert() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.session_id IS DISTINCT FROM latest_root(NEW.project_id) THEN
        PERFORM refuse('last_root_insert', 'it is not the latest root session of the project');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER last_root_insert BEFORE INSERT ON project_last_root_session FOR EACH ROW EXECUTE FUNCTION last_root_insert();

CREATE FUNCTION last_root_update() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.project_id <> OLD.project_id OR NOT is_later(NEW.session_id, OLD.session_id) THEN
        PERFORM refuse('last_root_update', 'it is not the latest root session of the project');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER last_root_update BEFORE UPDATE ON project_last_root_session FOR EACH ROW EXECUTE FUNCTION last_root_update();

CREATE FUNCTION last_root_delete() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM sessions WHERE session_id = OLD.session_id AND is_root_session) THEN
        PERFORM refuse('last_root_delete', 'the session is still there');
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER last_root_delete BEFORE DELETE ON project_last_root_session FOR EACH ROW EXECUTE FUNCTION last_root_delete();

-- lock_last_root locks the row of a project, and makes it if a root session is
-- there. Transactions that change who is last wait for each other here, and each
-- looks only after that: of two sessions that are active at the same moment the
-- later one is found.
CREATE FUNCTION lock_last_root(project TEXT) RETURNS TEXT LANGUAGE plpgsql AS $$
DECLARE
    last TEXT;
    latest TEXT;
    refused TEXT;
BEGIN
    LOOP
        SELECT session_id INTO last FROM project_last_root_session WHERE project_id = project FOR UPDATE;
        IF FOUND THEN
            RETURN last;
        END IF;
        latest := latest_root(project);
        IF latest IS NULL THEN
            RETURN NULL;
        END IF;
        BEGIN
            INSERT INTO project_last_root_session (project_id, session_id) VALUES (project, latest) ON CONFLICT DO NOTHING;
        EXCEPTION WHEN integrity_constraint_violation THEN
            GET STACKED DIAGNOSTICS refused = CONSTRAINT_NAME;
            IF refused <> 'last_root_insert' THEN
                RAISE;
            END IF; -- a later one was committed since: it is looked for again
        END;
    END LOOP;
END $$;

CREATE FUNCTION sessions_index() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO project_sessions (session_id, project_id) VALUES (NEW.session_id, NEW.project_id);
    RETURN NULL;
END $$;
CREATE TRIGGER sessions_index_insert AFTER INSERT ON sessions FOR EACH ROW
WHEN (NEW.project_id IS NOT NULL) EXECUTE FUNCTION sessions_index();
CREATE TRIGGER sessions_index_project AFTER UPDATE OF project_id ON sessions FOR EACH ROW
WHEN (OLD.project_id IS NULL AND NEW.project_id IS NOT NULL) EXECUTE FUNCTION sessions_index();

-- A root session that enters the index, or is active again, takes the place of an
-- earlier one.
CREATE FUNCTION last_root_active() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF is_later(NEW.session_id, lock_last_root(NEW.project_id)) THEN
        UPDATE project_last_root_session SET session_id = NEW.session_id WHERE project_id = NEW.project_id;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER last_root_enter AFTER INSERT ON project_sessions FOR EACH ROW EXECUTE FUNCTION last_root_active();
CREATE TRIGGER last_root_active AFTER UPDATE OF active_at ON sessions FOR EACH ROW
WHEN (NEW.project_id IS NOT NULL AND NEW.is_root_session AND NEW.active_at > OLD.active_at) EXECUTE FUNCTION last_root_active();

-- What else may change the order happens seldom, and has the latest one looked for
-- among all.
CREATE FUNCTION last_root_change() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    latest TEXT;
BEGIN
    IF lock_last_root(NEW.project_id) = NEW.session_id AND NOT NEW.is_root_session THEN
        DELETE FROM project_last_root_session WHERE project_id = NEW.project_id;
        PERFORM lock_last_root(NEW.project_id);
        RETURN NULL;
    END IF;
    latest := latest_root(NEW.project_id);
    UPDATE project_last_root_session SET session_id = latest WHERE project_id = NEW.project_id AND session_id <> latest;
    RETURN NULL;
END $$;
CREATE TRIGGER last_root_change AFTER UPDATE OF is_root_session, active_at ON sessions FOR EACH ROW
WHEN (NEW.project_id IS NOT NULL AND (NEW.is_root_session <> OLD.is_root_session OR NEW.is_root_session AND NEW.active_at < OLD.active_at))
EXECUTE FUNCTION last_root_change();

-- Deleting a session removes its index rows; then the next latest root session
-- takes its place. The foreign keys would remove the rows too, but later.
CREATE FUNCTION sessions_index_delete() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM project_last_root_session WHERE project_id = OLD.project_id AND session_id = OLD.session_id;
    DELETE FROM project_sessions WHERE session_id = OLD.session_id;
    PERFORM lock_last_root(OLD.project_id);
    RETURN NULL;
END $$;
CREATE TRIGGER sessions_index_delete AFTER DELETE ON sessions FOR EACH ROW
WHEN (OLD.project_id IS NOT NULL) EXECUTE FUNCTION sessions_index_delete();

CREATE TABLE workspaces (
    project_id TEXT COLLATE "C" NOT NULL,
    git_dir    TEXT COLLATE "C" NOT NULL,
    allow_all  BOOLEAN NOT NULL,
    mode       TEXT,
    PRIMARY KEY (project_id, git_dir),
    CONSTRAINT workspaces_mode CHECK (mode IN ('reject', 'default', 'auto', 'ask', 'plan', 'bypass'))
);

CREATE TABLE batches (
    session_id TEXT COLLATE "C" NOT NULL,
    batch_id   TEXT COLLATE "C" NOT NULL,
    seq        BIGINT  NOT NULL, -- order within the session
    lane       TEXT COLLATE "C" NOT NULL,
    turn       BIGINT  NOT NULL,
    state      TEXT    NOT NULL,
    resumes    BIGINT  NOT NULL,
    cancelled  BOOLEAN NOT NULL,
    created_at BIGINT  NOT NULL,
    PRIMARY KEY (session_id, batch_id),
    CONSTRAINT batches_seq UNIQUE (session_id, seq),
    CONSTRAINT batches_session FOREIGN KEY (session_id) REFERENCES sessions (session_id) ON DELETE CASCADE,
    CONSTRAINT batches_id CHECK (batch_id <> ''),
    CONSTRAINT batches_state CHECK (state IN ('waiting', 'running', 'finished', 'delivered'))
);

-- One open batch in a lane of a session.
CREATE UNIQUE INDEX batches_open ON batches (session_id, lane) WHERE state <> 'delivered';

CREATE TABLE calls (
    session_id  TEXT COLLATE "C" NOT NULL,
    call_id     TEXT COLLATE "C" NOT NULL,
    batch_id    TEXT COLLATE "C" NOT NULL,
    ordinal     BIGINT  NOT NULL, -- from 0, the model's order
    tool        TEXT    NOT NULL,
    args_hash   TEXT COLLATE "C" NOT NULL,
    effect      TEXT    NOT NULL,
    background  BOOLEAN NOT NULL,
    turn        BIGINT  NOT NULL,
    state       TEXT    NOT NULL,
    request_id  TEXT    NOT NULL,
    round       BIGINT  NOT NULL,
    attempt     BIGINT  NOT NULL,
    verdict     TEXT    NOT NULL,
    reason      TEXT    NOT NULL,
    reason_code TEXT    NOT NULL,
    working_dir TEXT    NOT NULL,
    agent       TEXT    NOT NULL,
    extra       TEXT,
    input       TEXT    NOT NULL, -- with secrets masked
    input_exact BYTEA,            -- encrypted, where masking changed something
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

CREATE TABLE asks (
    request_id   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    session_id   TEXT COLLATE "C" NOT NULL,
    batch_id     TEXT COLLATE "C" NOT NULL,
    call_id      TEXT COLLATE "C" NOT NULL,
    round        BIGINT NOT NULL,
    args_hash    TEXT   NOT NULL,
    shown_digest TEXT   NOT NULL,
    state        TEXT   NOT NULL,
    asked_at     BIGINT NOT NULL,
    expires_at   BIGINT,
    shown        TEXT   NOT NULL,
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

CREATE TABLE answers (
    request_id      TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    args_hash       TEXT   NOT NULL,
    answer          TEXT   NOT NULL,
    scope           TEXT   NOT NULL,
    reason          TEXT   NOT NULL,
    reason_code     TEXT   NOT NULL,
    actor           TEXT   NOT NULL,
    channel         TEXT   NOT NULL,
    policy_revision TEXT   NOT NULL,
    at              BIGINT NOT NULL,
    CONSTRAINT answers_ask FOREIGN KEY (request_id) REFERENCES asks (request_id) ON DELETE CASCADE,
    CONSTRAINT answers_answer CHECK (answer IN ('approve', 'deny', 'cancel')),
    CONSTRAINT answers_scope CHECK (scope IN ('once', 'session', 'project', 'global'))
);

CREATE TABLE grants (
    grant_id   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    scope      TEXT    NOT NULL,
    project_id TEXT COLLATE "C" NOT NULL,
    git_dir    TEXT COLLATE "C" NOT NULL,
    session_id TEXT COLLATE "C", -- NULL outlives sessions
    call_id    TEXT    NOT NULL,
    request_id TEXT    NOT NULL,
    remembered BOOLEAN NOT NULL,
    tool       TEXT    NOT NULL,
    exact      TEXT    NOT NULL,
    covers     TEXT    NOT NULL,
    created_at BIGINT  NOT NULL,
    expires_at BIGINT,
    max_uses   BIGINT  NOT NULL, -- 0 is no limit
    uses       BIGINT  NOT NULL,
    revoked_at BIGINT,
    created_by TEXT    NOT NULL,
    CONSTRAINT grants_session FOREIGN KEY (session_id) REFERENCES sessions (session_id) ON DELETE CASCADE,
    CONSTRAINT grants_id CHECK (grant_id <> ''),
    CONSTRAINT grants_scope CHECK (scope IN ('once', 'session', 'project', 'global')),
    CONSTRAINT grants_uses CHECK (uses >= 0 AND max_uses >= 0 AND (max_uses = 0 OR uses <= max_uses))
);

CREATE INDEX grants_by_session ON grants (session_id, call_id);
CREATE INDEX grants_lasting ON grants (session_id) WHERE scope <> 'once';
CREATE INDEX grants_global ON grants (scope) WHERE session_id IS NULL AND scope = 'global';
CREATE INDEX grants_by_project ON grants (project_id, git_dir) WHERE session_id IS NULL;

CREATE TABLE executions (
    session_id    TEXT COLLATE "C" NOT NULL,
    call_id       TEXT COLLATE "C" NOT NULL,
    attempt       BIGINT NOT NULL,
    effect        TEXT   NOT NULL,
    epoch         BIGINT NOT NULL,
    runner        TEXT   NOT NULL,
    process_group BIGINT NOT NULL,
    evidence      TEXT,
    started_at    BIGINT NOT NULL,
    PRIMARY KEY (session_id, call_id, attempt),
    CONSTRAINT executions_call FOREIGN KEY (session_id, call_id) REFERENCES calls (session_id, call_id) ON DELETE CASCADE,
    CONSTRAINT executions_attempt CHECK (attempt = 1 OR attempt > 1 AND effect IN ('pure', 'idempotent'))
);

CREATE TABLE results (
    session_id   TEXT COLLATE "C" NOT NULL,
    call_id      TEXT COLLATE "C" NOT NULL,
    status       TEXT   NOT NULL,
    reason_code  TEXT   NOT NULL,
    at           BIGINT NOT NULL,
    output       BYTEA  NOT NULL, -- with secrets masked
    output_exact BYTEA,
    PRIMARY KEY (session_id, call_id),
    CONSTRAINT results_call FOREIGN KEY (session_id, call_id) REFERENCES calls (session_id, call_id) ON DELETE CASCADE,
    CONSTRAINT results_status CHECK (status IN ('ok', 'error', 'denied', 'cancelled', 'timeout', 'indeterminate'))
);

CREATE TABLE trials (
    trial_id      TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    session_id    TEXT COLLATE "C" NOT NULL,
    batch_id      TEXT COLLATE "C" NOT NULL,
    call_id       TEXT COLLATE "C" NOT NULL,
    project_id    TEXT COLLATE "C" NOT NULL,
    round         BIGINT  NOT NULL, -- which trial of the call, from 1
    state         TEXT    NOT NULL,
    base_digest   TEXT    NOT NULL, -- of what the call would do, as it was read when the trial began
    layer_digest  TEXT    NOT NULL,
    network       BOOLEAN NOT NULL,
    epoch         BIGINT  NOT NULL,
    runner        TEXT    NOT NULL,
    exit_code     BIGINT  NOT NULL,
    started_at    BIGINT  NOT NULL,
    ran_at        BIGINT,
    settled_at    BIGINT,
    output        BYTEA   NOT NULL, -- with secrets masked
    output_exact  BYTEA,
    effects       TEXT    NOT NULL, -- JSON with secrets masked
    effects_exact BYTEA,
    CONSTRAINT trials_round UNIQUE (session_id, call_id, round),
    CONSTRAINT trials_call FOREIGN KEY (session_id, call_id) REFERENCES calls (session_id, call_id) ON DELETE CASCADE,
    CONSTRAINT trials_id CHECK (trial_id <> ''),
    CONSTRAINT trials_state CHECK (state IN ('running', 'waiting', 'conflict', 'discarded', 'kept')),
    CONSTRAINT trials_layer CHECK (state IN ('running', 'discarded') OR layer_digest <> '' AND ran_at IS NOT NULL)
);

-- One trial runs in a project at a time, and one of a call is open.
CREATE UNIQUE INDEX trials_running ON trials (project_id) WHERE state = 'running';
CREATE UNIQUE INDEX trials_open ON trials (session_id, call_id) WHERE state IN ('running', 'waiting', 'conflict');

CREATE TABLE resumes (
    session_id   TEXT COLLATE "C" NOT NULL,
    batch_id     TEXT COLLATE "C" NOT NULL,
    epoch        BIGINT NOT NULL,
    claimed_at   BIGINT NOT NULL,
    delivered_at BIGINT,
    PRIMARY KEY (session_id, batch_id),
    CONSTRAINT resumes_batch FOREIGN KEY (session_id, batch_id) REFERENCES batches (session_id, batch_id) ON DELETE CASCADE
);

CREATE TABLE messages (
    session_id    TEXT COLLATE "C" NOT NULL,
    n             BIGINT NOT NULL, -- from 1, without gaps
    role          TEXT   NOT NULL,
    batch_id      TEXT   NOT NULL,
    at            BIGINT NOT NULL,
    content       BYTEA  NOT NULL, -- with secrets masked
    content_exact BYTEA,
    PRIMARY KEY (session_id, n),
    CONSTRAINT messages_session FOREIGN KEY (session_id) REFERENCES sessions (session_id) ON DELETE CASCADE
);

CREATE TABLE prompts (
    session_id TEXT COLLATE "C" NOT NULL,
    n          BIGINT NOT NULL,
    at         BIGINT NOT NULL,
    text       BYTEA  NOT NULL, -- with secrets masked
    text_exact BYTEA,
    PRIMARY KEY (session_id, n),
    CONSTRAINT prompts_session FOREIGN KEY (session_id) REFERENCES sessions (session_id) ON DELETE CASCADE
);

-- The triggers of batches.

CREATE TRIGGER batches_insert BEFORE INSERT ON batches FOR EACH ROW
WHEN (NEW.state NOT IN ('waiting', 'running') OR NEW.resumes <> 0 OR NEW.cancelled)
EXECUTE FUNCTION refuse_row('a batch begins once, as waiting or running');

CREATE TRIGGER batches_identity BEFORE UPDATE OF session_id, batch_id, seq, lane, turn, created_at ON batches FOR EACH ROW
EXECUTE FUNCTION refuse_row('what a batch is does not change');

CREATE TRIGGER batches_transition BEFORE UPDATE OF state, resumes, cancelled ON batches FOR EACH ROW
WHEN (NOT (
    NEW.state = OLD.state AND NEW.resumes = OLD.resumes
        AND (NEW.cancelled = OLD.cancelled OR NEW.cancelled AND OLD.state IN ('waiting', 'running'))
    OR OLD.state = 'waiting' AND NEW.state = 'running' AND NEW.resumes = OLD.resumes + 1 AND NEW.cancelled = OLD.cancelled
    OR NEW.resumes = OLD.resumes AND NEW.cancelled = OLD.cancelled AND (
        OLD.state = 'running' AND NEW.state IN ('waiting', 'finished')
        OR OLD.state = 'waiting' AND NEW.state = 'finished' AND OLD.cancelled
        OR OLD.state = 'finished' AND NEW.state = 'delivered')))
EXECUTE FUNCTION refuse_row('a batch does not go this way');

CREATE FUNCTION batches_resume() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM calls
        WHERE session_id = NEW.session_id AND batch_id = NEW.batch_id AND state IN ('asked', 'indeterminate')) THEN
        PERFORM refuse('batches_resume', 'a call waits for an answer');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER batches_resume BEFORE UPDATE OF state ON batches FOR EACH ROW
WHEN (NEW.state = 'running' AND OLD.state <> 'running') EXECUTE FUNCTION batches_resume();

CREATE FUNCTION batches_finish() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM calls WHERE session_id = NEW.session_id AND batch_id = NEW.batch_id AND state <> 'finished') THEN
        PERFORM refuse('batches_finish', 'a call is not finished');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER batches_finish BEFORE UPDATE OF state ON batches FOR EACH ROW
WHEN (NEW.state = 'finished' AND OLD.state <> 'finished') EXECUTE FUNCTION batches_finish();

CREATE FUNCTION batches_deliver() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM resumes
        WHERE session_id = NEW.session_id AND batch_id = NEW.batch_id AND delivered_at IS NOT NULL) THEN
        PERFORM refuse('batches_deliver', 'its results were not claimed and delivered');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER batches_deliver BEFORE UPDATE OF state ON batches FOR EACH ROW
WHEN (NEW.state = 'delivered' AND OLD.state <> 'delivered') EXECUTE FUNCTION batches_deliver();

CREATE FUNCTION batches_delete() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM sessions WHERE session_id = OLD.session_id) THEN
        PERFORM refuse('batches_delete', 'a batch stays as long as its session');
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER batches_delete BEFORE DELETE ON batches FOR EACH ROW EXECUTE FUNCTION batches_delete();

-- The triggers of calls.

CREATE FUNCTION calls_insert() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.state NOT IN ('asked', 'approved', 'denied') OR NEW.attempt <> 0
        OR NEW.state = 'asked' AND EXISTS (SELECT 1 FROM batches
            WHERE session_id = NEW.session_id AND batch_id = NEW.batch_id AND state = 'running') THEN
        PERFORM refuse('calls_insert', 'a call begins once, as asked, approved or denied, and a batch with a question waits');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER calls_insert BEFORE INSERT ON calls FOR EACH ROW EXECUTE FUNCTION calls_insert();

CREATE TRIGGER calls_identity
BEFORE UPDATE OF session_id, call_id, batch_id, ordinal, tool, args_hash, effect, background, turn, working_dir, agent, extra, input, input_exact
ON calls FOR EACH ROW EXECUTE FUNCTION refuse_row('what a call is does not change');

CREATE TRIGGER calls_closed BEFORE UPDATE ON calls FOR EACH ROW
WHEN (OLD.state = 'finished') EXECUTE FUNCTION refuse_row('a finished call does not change');

CREATE TRIGGER calls_transition BEFORE UPDATE OF state, round, attempt ON calls FOR EACH ROW
WHEN (NEW.round < OLD.round OR NOT (
    NEW.state = OLD.state AND (NEW.attempt = OLD.attempt OR NEW.state = 'executing' AND NEW.attempt = OLD.attempt + 1)
    OR OLD.state = 'approved' AND NEW.state = 'executing' AND NEW.attempt = OLD.attempt + 1
    OR NEW.attempt = OLD.attempt AND (
        OLD.state = 'asked' AND NEW.state IN ('approved', 'denied')
        OR OLD.state = 'approved' AND NEW.state IN ('asked', 'denied', 'finished')
        OR OLD.state = 'denied' AND NEW.state = 'finished'
        OR OLD.state = 'executing' AND NEW.state IN ('indeterminate', 'settled', 'finished')
        OR OLD.state = 'indeterminate' AND NEW.state = 'settled'
        OR OLD.state = 'settled' AND NEW.state = 'finished')))
EXECUTE FUNCTION refuse_row('a call does not go this way');

-- A question that is pending still holds its call.
CREATE FUNCTION calls_answer() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM asks WHERE request_id IN (OLD.request_id, NEW.request_id) AND state = 'pending') THEN
        PERFORM refuse('calls_answer', 'the question about the call is pending');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER calls_answer BEFORE UPDATE OF state ON calls FOR EACH ROW
WHEN (OLD.state IN ('asked', 'indeterminate') AND NEW.state NOT IN ('asked', 'indeterminate')) EXECUTE FUNCTION calls_answer();

-- A call starts when its batch runs, nothing of the batch waits, everything before
-- it is finished, no person refused it, no trial of it runs, and its execution is written down. The
-- batch is locked, so that it cannot be cancelled or asked about meanwhile.
CREATE FUNCTION calls_start() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM batches WHERE session_id = NEW.session_id AND batch_id = NEW.batch_id FOR UPDATE;
    IF NOT EXISTS (SELECT 1 FROM batches WHERE session_id = NEW.session_id AND batch_id = NEW.batch_id AND state = 'running' AND NOT cancelled)
        OR EXISTS (SELECT 1 FROM calls AS c WHERE c.session_id = NEW.session_id AND c.batch_id = NEW.batch_id
            AND c.ordinal < NEW.ordinal AND c.state <> 'finished')
        OR EXISTS (SELECT 1 FROM calls AS c WHERE c.session_id = NEW.session_id AND c.batch_id = NEW.batch_id
            AND c.state IN ('asked', 'indeterminate'))
        OR EXISTS (SELECT 1 FROM answers AS a JOIN asks AS k ON k.request_id = a.request_id
            WHERE k.session_id = NEW.session_id AND k.call_id = NEW.call_id AND a.answer <> 'approve')
        OR EXISTS (SELECT 1 FROM trials WHERE session_id = NEW.session_id AND call_id = NEW.call_id AND state = 'running')
        OR NOT EXISTS (SELECT 1 FROM executions AS e
            WHERE e.session_id = NEW.session_id AND e.call_id = NEW.call_id AND e.attempt = NEW.attempt) THEN
        PERFORM refuse('calls_start', 'the call may not run now');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER calls_start BEFORE UPDATE OF state, attempt ON calls FOR EACH ROW
WHEN (NEW.state = 'executing' AND (OLD.state <> 'executing' OR NEW.attempt <> OLD.attempt)) EXECUTE FUNCTION calls_start();

CREATE FUNCTION calls_delete() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM batches WHERE session_id = OLD.session_id AND batch_id = OLD.batch_id) THEN
        PERFORM refuse('calls_delete', 'a call stays as long as its batch');
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER calls_delete BEFORE DELETE ON calls FOR EACH ROW EXECUTE FUNCTION calls_delete();

-- The triggers of asks and answers.

CREATE FUNCTION asks_insert() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM batches WHERE session_id = NEW.session_id AND batch_id = NEW.batch_id FOR UPDATE;
    IF NEW.state <> 'pending' OR NOT EXISTS (SELECT 1 FROM calls WHERE session_id = NEW.session_id AND call_id = NEW.call_id
        AND batch_id = NEW.batch_id AND args_hash = NEW.args_hash AND state <> 'finished') THEN
        PERFORM refuse('asks_insert', 'a question begins once, as pending, and is about the arguments of its call');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER asks_insert BEFORE INSERT ON asks FOR EACH ROW EXECUTE FUNCTION asks_insert();

CREATE TRIGGER asks_identity
BEFORE UPDATE OF request_id, session_id, batch_id, call_id, round, args_hash, shown_digest, asked_at, expires_at, shown ON asks
FOR EACH ROW EXECUTE FUNCTION refuse_row('what was asked does not change');

CREATE FUNCTION asks_transition() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.state = 'pending' AND (NEW.state = 'withdrawn'
        OR NEW.state = 'answered' AND EXISTS (SELECT 1 FROM answers WHERE request_id = NEW.request_id)) THEN
        RETURN NEW;
    END IF;
    PERFORM refuse('asks_transition', 'a question is answered by its answer or withdrawn, once');
    RETURN NULL;
END $$;
CREATE TRIGGER asks_transition BEFORE UPDATE OF state ON asks FOR EACH ROW
WHEN (NEW.state <> OLD.state) EXECUTE FUNCTION asks_transition();

CREATE FUNCTION asks_delete() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM calls WHERE session_id = OLD.session_id AND call_id = OLD.call_id) THEN
        PERFORM refuse('asks_delete', 'a question stays as long as its call');
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER asks_delete BEFORE DELETE ON asks FOR EACH ROW EXECUTE FUNCTION asks_delete();

-- The question is locked: of two answers at once the second sees the first.
CREATE FUNCTION answers_insert() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM asks WHERE request_id = NEW.request_id AND state = 'pending' AND args_hash = NEW.args_hash FOR UPDATE;
    IF NOT FOUND THEN
        PERFORM refuse('answers_insert', 'an answer is to a pending question and about its arguments');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER answers_insert BEFORE INSERT ON answers FOR EACH ROW EXECUTE FUNCTION answers_insert();

CREATE FUNCTION answers_close() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    UPDATE asks SET state = 'answered' WHERE request_id = NEW.request_id;
    RETURN NULL;
END $$;
CREATE TRIGGER answers_close AFTER INSERT ON answers FOR EACH ROW EXECUTE FUNCTION answers_close();

CREATE TRIGGER answers_update BEFORE UPDATE ON answers FOR EACH ROW EXECUTE FUNCTION refuse_row('an answer stands');

CREATE FUNCTION answers_delete() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM asks WHERE request_id = OLD.request_id) THEN
        PERFORM refuse('answers_delete', 'an answer stands');
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER answers_delete BEFORE DELETE ON answers FOR EACH ROW EXECUTE FUNCTION answers_delete();

-- The triggers of grants.

CREATE TRIGGER grants_insert BEFORE INSERT ON grants FOR EACH ROW
WHEN (NEW.revoked_at IS NOT NULL) EXECUTE FUNCTION refuse_row('a grant begins once, in force');

CREATE TRIGGER grants_identity
BEFORE UPDATE OF grant_id, scope, project_id, git_dir, session_id, call_id, request_id, remembered, tool, exact, covers,
    created_at, expires_at, max_uses, created_by ON grants
FOR EACH ROW EXECUTE FUNCTION refuse_row('what a grant covers does not change');

CREATE TRIGGER grants_transition BEFORE UPDATE OF uses, revoked_at ON grants FOR EACH ROW
WHEN (NEW.uses < OLD.uses OR OLD.revoked_at IS NOT NULL AND (NEW.uses <> OLD.uses OR NEW.revoked_at IS DISTINCT FROM OLD.revoked_at))
EXECUTE FUNCTION refuse_row('uses only grow, and what is revoked stays revoked and unused');

CREATE FUNCTION grants_delete() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.session_id IS NULL OR EXISTS (SELECT 1 FROM sessions WHERE session_id = OLD.session_id) THEN
        PERFORM refuse('grants_delete', 'a grant is revoked, not deleted');
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER grants_delete BEFORE DELETE ON grants FOR EACH ROW EXECUTE FUNCTION grants_delete();

-- A ticket lets one command line of a host run once. The ticket itself is nowhere: digest is
-- its hash. It refers to no call, since there are tickets without a gate that records calls.
CREATE TABLE tickets (
    digest      TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    session_id  TEXT   NOT NULL,
    batch_id    TEXT   NOT NULL, -- '' where the call is not recorded
    call_id     TEXT   NOT NULL,
    action      TEXT   NOT NULL,
    line_digest TEXT   NOT NULL,
    line        BYTEA,           -- encrypted, where the host does not hand it over
    working_dir TEXT   NOT NULL,
    user_id     BIGINT NOT NULL,
    host        TEXT   NOT NULL, -- the process
    state       TEXT   NOT NULL,
    issued_at   BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL,
    CONSTRAINT tickets_digest CHECK (length(digest) = 64 AND length(line_digest) = 64),
    CONSTRAINT tickets_action CHECK (action IN ('trial', 'undo')),
    CONSTRAINT tickets_state CHECK (state IN ('issued', 'used', 'ended')),
    CONSTRAINT tickets_life CHECK (expires_at > issued_at)
);

CREATE INDEX tickets_old ON tickets (issued_at);

CREATE TRIGGER tickets_insert BEFORE INSERT ON tickets FOR EACH ROW
WHEN (NEW.state <> 'issued') EXECUTE FUNCTION refuse_row('a ticket begins as issued');

CREATE TRIGGER tickets_identity
BEFORE UPDATE OF digest, session_id, batch_id, call_id, action, line_digest, line, working_dir, user_id, host, issued_at,
    expires_at ON tickets
FOR EACH ROW EXECUTE FUNCTION refuse_row('what a ticket is for does not change');

CREATE TRIGGER tickets_transition BEFORE UPDATE OF state ON tickets FOR EACH ROW
WHEN (NOT (OLD.state = 'issued' AND NEW.state = 'used' OR OLD.state = 'used' AND NEW.state = 'ended'))
EXECUTE FUNCTION refuse_row('a ticket is used once, and ends once');

-- The triggers of executions, results and resumes.

CREATE FUNCTION executions_insert() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM calls AS c WHERE c.session_id = NEW.session_id AND c.call_id = NEW.call_id AND c.effect = NEW.effect
        AND (c.state IN ('approved', 'executing') OR c.state = 'asked' AND EXISTS (
            SELECT 1 FROM answers AS a WHERE a.request_id = c.request_id AND a.answer = 'approve'))
        FOR UPDATE;
    IF NOT FOUND
        OR NEW.attempt <> 1 + (SELECT COUNT(*) FROM executions WHERE session_id = NEW.session_id AND call_id = NEW.call_id)
        OR EXISTS (SELECT 1 FROM results WHERE session_id = NEW.session_id AND call_id = NEW.call_id) THEN
        PERFORM refuse('executions_insert', 'an approved call without a result is started, one attempt after the other');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER executions_insert BEFORE INSERT ON executions FOR EACH ROW EXECUTE FUNCTION executions_insert();

CREATE FUNCTION executions_fence() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.epoch < (SELECT epoch FROM sessions WHERE session_id = NEW.session_id) THEN
        PERFORM refuse('executions_fence', 'another runner has taken the session');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER executions_fence BEFORE INSERT ON executions FOR EACH ROW
WHEN (NEW.epoch <> 0) EXECUTE FUNCTION executions_fence();

CREATE TRIGGER executions_update BEFORE UPDATE ON executions FOR EACH ROW EXECUTE FUNCTION refuse_row('a start stands');

CREATE FUNCTION results_insert() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM results WHERE session_id = NEW.session_id AND call_id = NEW.call_id)
        OR NEW.status = 'ok' AND NOT EXISTS (SELECT 1 FROM executions WHERE session_id = NEW.session_id AND call_id = NEW.call_id) THEN
        PERFORM refuse('results_insert', 'a call has one result, and a good one only if it was started');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER results_insert BEFORE INSERT ON results FOR EACH ROW EXECUTE FUNCTION results_insert();

CREATE TRIGGER results_update BEFORE UPDATE ON results FOR EACH ROW EXECUTE FUNCTION refuse_row('the first result stands');

-- Executions and results stay as long as their call.
CREATE FUNCTION stays_with_call() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM calls WHERE session_id = OLD.session_id AND call_id = OLD.call_id) THEN
        PERFORM refuse(TG_NAME::TEXT, TG_ARGV[0]);
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER executions_delete BEFORE DELETE ON executions FOR EACH ROW EXECUTE FUNCTION stays_with_call('a start stands');
CREATE TRIGGER results_delete BEFORE DELETE ON results FOR EACH ROW EXECUTE FUNCTION stays_with_call('the first result stands');

CREATE FUNCTION resumes_insert() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.delivered_at IS NOT NULL
        OR EXISTS (SELECT 1 FROM resumes WHERE session_id = NEW.session_id AND batch_id = NEW.batch_id)
        OR EXISTS (SELECT 1 FROM calls AS c WHERE c.session_id = NEW.session_id AND c.batch_id = NEW.batch_id
            AND NOT EXISTS (SELECT 1 FROM results AS r WHERE r.session_id = c.session_id AND r.call_id = c.call_id)) THEN
        PERFORM refuse('resumes_insert', 'results are claimed once, when every call has one');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER resumes_insert BEFORE INSERT ON resumes FOR EACH ROW EXECUTE FUNCTION resumes_insert();

CREATE TRIGGER resumes_update BEFORE UPDATE ON resumes FOR EACH ROW
WHEN (NEW.session_id <> OLD.session_id OR NEW.batch_id <> OLD.batch_id OR NEW.claimed_at <> OLD.claimed_at
    OR OLD.delivered_at IS NOT NULL OR NEW.epoch < OLD.epoch)
EXECUTE FUNCTION refuse_row('a claim moves to a later epoch until it is delivered, and not after');

CREATE FUNCTION resumes_delete() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM batches WHERE session_id = OLD.session_id AND batch_id = OLD.batch_id) THEN
        PERFORM refuse('resumes_delete', 'a claim stands');
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER resumes_delete BEFORE DELETE ON resumes FOR EACH ROW EXECUTE FUNCTION resumes_delete();

-- The triggers of trials.

-- A trial is one of a call that is asked, in a batch that waits, when everything before it is finished. The
-- batch is locked, so that it cannot be answered or cancelled meanwhile.
CREATE FUNCTION trials_insert() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM batches WHERE session_id = NEW.session_id AND batch_id = NEW.batch_id FOR UPDATE;
    IF NEW.state NOT IN ('running')
        OR NEW.round <> 1 + (SELECT COUNT(*) FROM trials WHERE session_id = NEW.session_id AND call_id = NEW.call_id)
        OR NOT EXISTS (SELECT 1 FROM calls AS c JOIN batches AS b ON b.session_id = c.session_id AND b.batch_id = c.batch_id
            WHERE c.session_id = NEW.session_id AND c.call_id = NEW.call_id AND c.batch_id = NEW.batch_id
                AND c.state = 'asked' AND b.state = 'waiting' AND NOT b.cancelled
                AND NOT EXISTS (SELECT 1 FROM calls AS p WHERE p.session_id = c.session_id AND p.batch_id = c.batch_id
                    AND p.ordinal < c.ordinal AND p.state <> 'finished')) THEN
        PERFORM refuse('trials_insert', 'a trial begins once, as running, of the next call of a batch, which is asked');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER trials_insert BEFORE INSERT ON trials FOR EACH ROW EXECUTE FUNCTION trials_insert();

CREATE FUNCTION trials_fence() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.epoch < (SELECT epoch FROM sessions WHERE session_id = NEW.session_id) THEN
        PERFORM refuse('trials_fence', 'another runner has taken the session');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER trials_fence BEFORE INSERT ON trials FOR EACH ROW
WHEN (NEW.epoch <> 0) EXECUTE FUNCTION trials_fence();

CREATE TRIGGER trials_identity
BEFORE UPDATE OF trial_id, session_id, batch_id, call_id, project_id, round, base_digest, network, epoch, runner, started_at ON trials
FOR EACH ROW EXECUTE FUNCTION refuse_row('what a trial is does not change');

CREATE TRIGGER trials_report
BEFORE UPDATE OF layer_digest, exit_code, ran_at, output, output_exact, effects, effects_exact ON trials FOR EACH ROW
WHEN (OLD.state <> 'running') EXECUTE FUNCTION refuse_row('what a trial did does not change');

CREATE TRIGGER trials_transition BEFORE UPDATE OF state ON trials FOR EACH ROW
WHEN (NOT (
    NEW.state = OLD.state
    OR OLD.state = 'running' AND NEW.state IN ('waiting', 'discarded')
    OR OLD.state = 'waiting' AND NEW.state IN ('kept', 'discarded', 'conflict')
    OR OLD.state = 'conflict' AND NEW.state IN ('kept', 'discarded')))
EXECUTE FUNCTION refuse_row('a trial does not go this way');

-- Effects become real in an execution of the call.
CREATE FUNCTION trials_keep() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM executions WHERE session_id = NEW.session_id AND call_id = NEW.call_id) THEN
        PERFORM refuse('trials_keep', 'the call was not started');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER trials_keep BEFORE UPDATE OF state ON trials FOR EACH ROW
WHEN (NEW.state IN ('kept', 'conflict') AND OLD.state <> NEW.state) EXECUTE FUNCTION trials_keep();

CREATE TRIGGER trials_delete BEFORE DELETE ON trials FOR EACH ROW
EXECUTE FUNCTION stays_with_call('a trial stays as long as its call');

-- Nobody knows what became of the effects where nobody knows it of the call.
CREATE FUNCTION results_trial() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM trials
        WHERE session_id = NEW.session_id AND call_id = NEW.call_id AND state IN ('running', 'waiting')) THEN
        PERFORM refuse('results_trial', 'the effects of a trial of the call are neither kept nor discarded');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER results_trial BEFORE INSERT ON results FOR EACH ROW
WHEN (NEW.status <> 'indeterminate') EXECUTE FUNCTION results_trial();

-- The triggers of messages.

CREATE FUNCTION messages_insert() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.n <> 1 + COALESCE((SELECT MAX(n) FROM messages WHERE session_id = NEW.session_id), 0) THEN
        PERFORM refuse('messages_insert', 'messages are numbered without gaps');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER messages_insert BEFORE INSERT ON messages FOR EACH ROW EXECUTE FUNCTION messages_insert();

CREATE TRIGGER messages_update BEFORE UPDATE ON messages FOR EACH ROW EXECUTE FUNCTION refuse_row('a message stands');

CREATE FUNCTION messages_delete() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM sessions WHERE session_id = OLD.session_id) THEN
        PERFORM refuse('messages_delete', 'a message stands');
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER messages_delete BEFORE DELETE ON messages FOR EACH ROW EXECUTE FUNCTION messages_delete();

-- The end of each chain of events. The chain of no session has the id ''.
CREATE TABLE streams (
    session_id  TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    session_seq BIGINT NOT NULL, -- how many events there are
    seq         BIGINT NOT NULL, -- of the last one
    hash        TEXT   NOT NULL
);

INSERT INTO streams (session_id, session_seq, seq, hash) VALUES ('', 0, 0, '');

-- With a cache of 1 numbers are drawn in order, whoever draws them.
CREATE SEQUENCE events_seq CACHE 1;

CREATE TABLE events (
    seq              BIGINT NOT NULL PRIMARY KEY, -- over all sessions
    session_id       TEXT COLLATE "C" NOT NULL,
    session_seq      BIGINT NOT NULL, -- within the session, from 1, without gaps
    at               BIGINT NOT NULL,
    kind             TEXT   NOT NULL,
    project_id       TEXT COLLATE "C" NOT NULL,
    batch_id         TEXT   NOT NULL,
    call_id          TEXT   NOT NULL,
    request_id       TEXT   NOT NULL,
    agent            TEXT   NOT NULL,
    tool             TEXT   NOT NULL,
    permission_state TEXT   NOT NULL,
    permission_type  TEXT   NOT NULL,
    risk_level       TEXT   NOT NULL,
    blocked_reason   TEXT,
    verdict          TEXT,
    reason           TEXT   NOT NULL,
    reason_code      TEXT   NOT NULL,
    rule_id          TEXT   NOT NULL,
    scope            TEXT,
    actor            TEXT   NOT NULL,
    accesses         TEXT,
    data             TEXT,
    prev_hash        TEXT   NOT NULL,
    hash             TEXT   NOT NULL,
    CONSTRAINT events_kind CHECK (kind <> '')
);

CREATE INDEX events_by_session ON events (session_id, seq);
CREATE INDEX events_by_project ON events (project_id, seq);

-- The number of an event is drawn here and nowhere else, after its transaction has
-- an id and its stream is locked. So a number that was drawn belongs to a
-- transaction whose id was given out before, and within a stream they are in order.
CREATE FUNCTION events_insert() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    last streams%ROWTYPE;
BEGIN
    PERFORM pg_current_xact_id();
    SELECT * INTO last FROM streams WHERE session_id = NEW.session_id FOR UPDATE;
    IF NEW.session_seq <> 1 + COALESCE(last.session_seq, 0) OR NEW.prev_hash <> COALESCE(last.hash, '') OR length(NEW.hash) <> 64 THEN
        PERFORM refuse('events_insert', 'an event follows the last one of its session');
    END IF;
    NEW.seq := nextval('events_seq');
    RETURN NEW;
END $$;
CREATE TRIGGER events_insert BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION events_insert();

CREATE FUNCTION events_extend() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO streams (session_id, session_seq, seq, hash) VALUES (NEW.session_id, NEW.session_seq, NEW.seq, NEW.hash)
        ON CONFLICT (session_id) DO UPDATE SET session_seq = excluded.session_seq, seq = excluded.seq, hash = excluded.hash;
    RETURN NULL;
END $$;
CREATE TRIGGER events_extend AFTER INSERT ON events FOR EACH ROW EXECUTE FUNCTION events_extend();

CREATE TRIGGER events_update BEFORE UPDATE ON events FOR EACH ROW EXECUTE FUNCTION refuse_row('an event stands');
CREATE TRIGGER events_delete BEFORE DELETE ON events FOR EACH ROW EXECUTE FUNCTION refuse_row('an event stands');

CREATE FUNCTION streams_write() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND (NEW.session_id <> OLD.session_id OR NEW.session_seq <> OLD.session_seq + 1)
        OR NOT EXISTS (SELECT 1 FROM events WHERE seq = NEW.seq AND session_id = NEW.session_id AND session_seq = NEW.session_seq AND hash = NEW.hash) THEN
        PERFORM refuse(TG_NAME::TEXT, 'a chain ends with its last event');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER streams_insert BEFORE INSERT ON streams FOR EACH ROW EXECUTE FUNCTION streams_write();
CREATE TRIGGER streams_update BEFORE UPDATE ON streams FOR EACH ROW EXECUTE FUNCTION streams_write();
CREATE TRIGGER streams_delete BEFORE DELETE ON streams FOR EACH ROW EXECUTE FUNCTION refuse_row('a chain stands');

-- TRUNCATE runs no trigger of rows. Tables that others refer to take these with
-- them, or cannot be emptied.
CREATE TRIGGER last_root_truncate BEFORE TRUNCATE ON project_last_root_session EXECUTE FUNCTION refuse_row('the sessions are still there');
CREATE TRIGGER answers_truncate BEFORE TRUNCATE ON answers EXECUTE FUNCTION refuse_row('an answer stands');
CREATE TRIGGER grants_truncate BEFORE TRUNCATE ON grants EXECUTE FUNCTION refuse_row('a grant is revoked, not deleted');
CREATE TRIGGER executions_truncate BEFORE TRUNCATE ON executions EXECUTE FUNCTION refuse_row('a start stands');
CREATE TRIGGER results_truncate BEFORE TRUNCATE ON results EXECUTE FUNCTION refuse_row('the first result stands');
CREATE TRIGGER trials_truncate BEFORE TRUNCATE ON trials EXECUTE FUNCTION refuse_row('a trial stays as long as its call');
CREATE TRIGGER resumes_truncate BEFORE TRUNCATE ON resumes EXECUTE FUNCTION refuse_row('a claim stands');
CREATE TRIGGER messages_truncate BEFORE TRUNCATE ON messages EXECUTE FUNCTION refuse_row('a message stands');
CREATE TRIGGER events_truncate BEFORE TRUNCATE ON events EXECUTE FUNCTION refuse_row('an event stands');
CREATE TRIGGER streams_truncate BEFORE TRUNCATE ON streams EXECUTE FUNCTION refuse_row('a chain stands');
