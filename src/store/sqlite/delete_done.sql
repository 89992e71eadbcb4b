-- store/sqlite/delete_done.sql: a task leaves the history to be revived, if it still stands where the caller saw it.
DELETE FROM done
 WHERE k = :k AND EXISTS (SELECT 1 FROM body WHERE k = :k AND lo = :lo)
   AND state = :was_state AND attempt = :was_attempt;
