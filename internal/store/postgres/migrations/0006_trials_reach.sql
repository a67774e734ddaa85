-- The destinations that a person approved for a trial, as JSON.
ALTER TABLE trials ADD COLUMN reach TEXT NOT NULL DEFAULT '[]';
CREATE TRIGGER trials_reach BEFORE UPDATE OF reach ON trials
FOR EACH ROW EXECUTE FUNCTION refuse_row('what a trial is does not change');
