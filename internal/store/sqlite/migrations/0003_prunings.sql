-- Sessions that are over for long are removed with their events, whole or not at all: the row that says so
-- removes them. What is left is that row, the event of no session that tells of it, and the end of the stream.

CREATE TABLE prunings (
    session_id TEXT    NOT NULL,
    seq        INTEGER NOT NULL UNIQUE, -- of the event EventsPruned, which is later than all that is removed
    trace      BLOB    NOT NULL, -- the seq and the hash of each event, 40 bytes
    PRIMARY KEY (session_id, seq)
);

CREATE INDEX sessions_parent ON sessions (parent) WHERE parent <> '';

-- Sessions that somebody may still need: another one belongs to it, or something waits or runs. An agent that
-- runs its calls itself may have gone without a word, which leaves its batches open.
CREATE VIEW sessions_in_use AS SELECT s.session_id FROM sessions AS s
WHERE EXISTS (SELECT 1 FROM sessions AS c WHERE c.parent = s.session_id AND c.parent <> '')
    OR EXISTS (SELECT 1 FROM batches AS b WHERE b.session_id = s.session_id AND b.state IN ('waiting', 'running') AND NOT s.external)
    OR EXISTS (SELECT 1 FROM calls AS c WHERE c.session_id = s.session_id AND c.state IN ('asked', 'indeterminate'))
    OR EXISTS (SELECT 1 FROM trials AS t WHERE t.session_id = s.session_id AND t.state IN ('running', 'waiting', 'conflict'));

CREATE TRIGGER prunings_insert BEFORE INSERT ON prunings
WHEN NEW.session_id = ''
    OR NOT EXISTS (SELECT 1 FROM events WHERE seq = NEW.seq AND session_id = '' AND kind = 'EventsPruned')
    OR NEW.seq <= (SELECT seq FROM streams WHERE session_id = NEW.session_id)
    OR length(NEW.trace) = 0
    OR length(NEW.trace) <> 40 * (SELECT COUNT(*) FROM events WHERE session_id = NEW.session_id)
    OR EXISTS (SELECT 1 FROM sessions_in_use WHERE session_id = NEW.session_id)
    OR EXISTS (SELECT 1 FROM prunings WHERE seq = NEW.seq)
BEGIN
    SELECT RAISE(ABORT, 'prunings_insert: a session that nobody needs is removed, after an event that says so');
END;

CREATE TRIGGER prunings_remove AFTER INSERT ON prunings
BEGIN
    DELETE FROM sessions WHERE session_id = NEW.session_id;
    DELETE FROM events WHERE session_id = NEW.session_id;
END;

CREATE TRIGGER prunings_update BEFORE UPDATE ON prunings
BEGIN
    SELECT RAISE(ABORT, 'prunings_update: what was removed stays on record');
END;

CREATE TRIGGER prunings_delete BEFORE DELETE ON prunings
BEGIN
    SELECT RAISE(ABORT, 'prunings_delete: what was removed stays on record');
END;

DROP TRIGGER events_delete;
CREATE TRIGGER events_delete BEFORE DELETE ON events
WHEN NOT EXISTS (SELECT 1 FROM prunings WHERE session_id = OLD.session_id AND seq > OLD.seq)
BEGIN
    SELECT RAISE(ABORT, 'events_delete: an event stands');
END;
