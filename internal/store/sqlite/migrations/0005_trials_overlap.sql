-- Several trials of a project run at a time. Only keeping what they did is one after the other.
DROP INDEX trials_running;
CREATE INDEX trials_running ON trials (project_id) WHERE state = 'running';
