-- Large inputs are kept once in a session, compressed, and the row of the call has a part of its input.

CREATE TABLE inputs (
    session_id TEXT NOT NULL,
    digest     TEXT NOT NULL, -- the SHA-256 of what is packed
    packed     BLOB NOT NULL, -- with secrets masked
    PRIMARY KEY (session_id, digest),
    CONSTRAINT inputs_session FOREIGN KEY (session_id) REFERENCES sessions (session_id) ON DELETE CASCADE
);

CREATE TRIGGER inputs_update BEFORE UPDATE ON inputs
BEGIN
    SELECT RAISE(ABORT, 'inputs_update: an input stands');
END;

CREATE TRIGGER inputs_delete BEFORE DELETE ON inputs
WHEN EXISTS (SELECT 1 FROM sessions WHERE session_id = OLD.session_id)
BEGIN
    SELECT RAISE(ABORT, 'inputs_delete: an input stands');
END;

ALTER TABLE calls ADD COLUMN input_size INTEGER NOT NULL DEFAULT 0; -- of an input that has a row of its own
ALTER TABLE calls ADD COLUMN input_digest TEXT;

CREATE TRIGGER calls_input BEFORE INSERT ON calls
WHEN NEW.input_digest IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM inputs WHERE session_id = NEW.session_id AND digest = NEW.input_digest)
BEGIN
    SELECT RAISE(ABORT, 'calls_input: the input of the call is missing');
END;

CREATE TRIGGER calls_input_identity BEFORE UPDATE OF input_size, input_digest ON calls
BEGIN
    SELECT RAISE(ABORT, 'calls_input_identity: what a call is does not change');
END;
