-- Sessions that are over for long are removed with their events, whole or not at all: the row that says so
-- removes them. What is left is that row, the event of no session that tells of it, and the end of the stream.

CREATE TABLE prunings (
    session_id TEXT COLLATE "C" NOT NULL,
    seq        BIGINT NOT NULL UNIQUE, -- of the event EventsPruned, which is later than all that is removed
    trace      BYTEA  NOT NULL, -- the seq and the hash of each event, 40 bytes
    PRIMARY KEY (session_id, seq)
);
ALTER TABLE prunings ALTER COLUMN trace SET STORAGE EXTERNAL; -- hashes do not become smaller

CREATE INDEX sessions_parent ON sessions (parent) WHERE parent <> '';

-- Sessions that somebody may still need: another one belongs to it, or something waits or runs. An agent that
-- runs its calls itself may have gone without a word, which leaves its batches open.
CREATE VIEW sessions_in_use AS SELECT s.session_id FROM sessions AS s
WHERE EXISTS (SELECT 1 FROM sessions AS c WHERE c.parent = s.session_id AND c.parent <> '')
    OR EXISTS (SELECT 1 FROM batches AS b WHERE b.session_id = s.session_id AND b.state IN ('waiting', 'running') AND NOT s.external)
    OR EXISTS (SELECT 1 FROM calls AS c WHERE c.session_id = s.session_id AND c.state IN ('asked', 'indeterminate'))
    OR EXISTS (SELECT 1 FROM trials AS t WHERE t.session_id = s.session_id AND t.state IN ('running', 'waiting', 'conflict'));

CREATE FUNCTION prunings_insert() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM sessions WHERE session_id = NEW.session_id FOR UPDATE;
    PERFORM 1 FROM streams WHERE session_id = NEW.session_id FOR UPDATE;
    IF NEW.session_id = ''
        OR NOT EXISTS (SELECT 1 FROM events WHERE seq = NEW.seq AND session_id = '' AND kind = 'EventsPruned')
        OR NEW.seq <= (SELECT seq FROM streams WHERE session_id = NEW.session_id)
        OR length(NEW.trace) = 0
        OR length(NEW.trace) <> 40 * (SELECT COUNT(*) FROM events WHERE session_id = NEW.session_id)
        OR EXISTS (SELECT 1 FROM sessions_in_use WHERE session_id = NEW.session_id) THEN
        PERFORM refuse('prunings_insert', 'a session that nobody needs is removed, after an event that says so');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER prunings_insert BEFORE INSERT ON prunings FOR EACH ROW EXECUTE FUNCTION prunings_insert();

CREATE FUNCTION prunings_remove() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM sessions WHERE session_id = NEW.session_id;
    DELETE FROM events WHERE session_id = NEW.session_id;
    RETURN NULL;
END $$;
CREATE TRIGGER prunings_remove AFTER INSERT ON prunings FOR EACH ROW EXECUTE FUNCTION prunings_remove();

CREATE TRIGGER prunings_update BEFORE UPDATE ON prunings FOR EACH ROW EXECUTE FUNCTION refuse_row('what was removed stays on record');
CREATE TRIGGER prunings_delete BEFORE DELETE ON prunings FOR EACH ROW EXECUTE FUNCTION refuse_row('what was removed stays on record');
CREATE TRIGGER prunings_truncate BEFORE TRUNCATE ON prunings EXECUTE FUNCTION refuse_row('what was removed stays on record');

CREATE FUNCTION events_delete() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM prunings WHERE session_id = OLD.session_id AND seq > OLD.seq) THEN
        PERFORM refuse('events_delete', 'an event stands');
    END IF;
    RETURN OLD;
END $$;
DROP TRIGGER events_delete ON events;
CREATE TRIGGER events_delete BEFORE DELETE ON events FOR EACH ROW EXECUTE FUNCTION events_delete();
