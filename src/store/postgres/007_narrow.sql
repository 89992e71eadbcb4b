-- store/postgres/007_narrow.sql: a hot row that costs less to start and to end.
-- When something happens to a task by itself is written by whoever changes it: the expression was a fifth of a create. An attempt that runs
-- is found by its queue and the end of its lease in one index, where there were two.

ALTER TABLE task ALTER COLUMN due_ms DROP EXPRESSION;
DROP INDEX task_due;
DROP INDEX task_running;
CREATE INDEX task_due ON task (due_ms, id) WHERE due_ms IS NOT NULL AND state <> :RUNNING;
CREATE INDEX task_running ON task (queue, due_ms, id) WHERE state = :RUNNING AND NOT container;
-- Whatever is to happen by itself has a time: a node of an older version, which does not write it, cannot store such a row any more.
ALTER TABLE task DROP CONSTRAINT task_check2;
ALTER TABLE task ADD CONSTRAINT task_lease CHECK (
    CASE WHEN state = :RUNNING AND NOT container
         THEN attempt > 0 AND token <> 0 AND worker IS NOT NULL AND lease_until_ms > 0 AND outcome = :OUTCOME_NONE AND due_ms IS NOT NULL
         ELSE lease_until_ms = 0 AND (due_ms IS NOT NULL OR state NOT IN (:SCHEDULED, :RETRYING)) END);

-- Whether others depend on it, and whether it depends on others: nearly no task has such ties, and no start and no end needs to look for them.
-- Whoever makes another depend on a task changes its row, so that an end that is under way at the same time finds another row than it knew.
ALTER TABLE task ADD COLUMN awaited boolean NOT NULL DEFAULT false, ADD COLUMN depends boolean NOT NULL DEFAULT false;
UPDATE task SET awaited = true WHERE id IN (SELECT "on" FROM dependency);
UPDATE task SET depends = true WHERE id IN (SELECT id FROM dependency);
