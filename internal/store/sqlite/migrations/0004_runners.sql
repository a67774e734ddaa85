-- Several processes may run one session: a JSON list of those beside the first, NULL for none.
ALTER TABLE sessions ADD COLUMN runners TEXT;

CREATE INDEX sessions_shared ON sessions (session_id) WHERE runners IS NOT NULL AND state <> 'ended';
