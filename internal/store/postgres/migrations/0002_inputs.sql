-- Large inputs are kept once in a session, compressed, and the row of the call has a part of its input.

CREATE TABLE inputs (
    session_id TEXT COLLATE "C" NOT NULL,
    digest     TEXT COLLATE "C" NOT NULL, -- the SHA-256 of what is packed
    packed     BYTEA NOT NULL, -- with secrets masked
    PRIMARY KEY (session_id, digest),
    CONSTRAINT inputs_session FOREIGN KEY (session_id) REFERENCES sessions (session_id) ON DELETE CASCADE
);
ALTER TABLE inputs ALTER COLUMN packed SET STORAGE EXTERNAL; -- it is compressed already

CREATE TRIGGER inputs_update BEFORE UPDATE ON inputs FOR EACH ROW EXECUTE FUNCTION refuse_row('an input stands');

CREATE FUNCTION inputs_delete() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM sessions WHERE session_id = OLD.session_id) THEN
        PERFORM refuse('inputs_delete', 'an input stands');
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER inputs_delete BEFORE DELETE ON inputs FOR EACH ROW EXECUTE FUNCTION inputs_delete();
CREATE TRIGGER inputs_truncate BEFORE TRUNCATE ON inputs EXECUTE FUNCTION refuse_row('an input stands');

ALTER TABLE calls ADD COLUMN input_size BIGINT NOT NULL DEFAULT 0; -- of an input that has a row of its own
ALTER TABLE calls ADD COLUMN input_digest TEXT COLLATE "C";

CREATE FUNCTION calls_input() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM inputs WHERE session_id = NEW.session_id AND digest = NEW.input_digest) THEN
        PERFORM refuse('calls_input', 'the input of the call is missing');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER calls_input BEFORE INSERT ON calls FOR EACH ROW
WHEN (NEW.input_digest IS NOT NULL) EXECUTE FUNCTION calls_input();

CREATE TRIGGER calls_input_identity BEFORE UPDATE OF input_size, input_digest ON calls FOR EACH ROW
EXECUTE FUNCTION refuse_row('what a call is does not change');
