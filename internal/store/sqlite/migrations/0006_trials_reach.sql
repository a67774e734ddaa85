-- The destinations that a person approved for a trial, as JSON.
ALTER TABLE trials ADD COLUMN reach TEXT NOT NULL DEFAULT '[]';
CREATE TRIGGER trials_reach BEFORE UPDATE OF reach ON trials
BEGIN
    SELECT RAISE(ABORT, 'trials_identity: what a trial is does not change');
END;
