-- store/sqlite/delete_task.sql: a task leaves the hot table, if it still stands where the caller saw it.
DELETE FROM task
 WHERE k = :k AND lo = :lo AND state = :was_state AND attempt = :was_attempt;
