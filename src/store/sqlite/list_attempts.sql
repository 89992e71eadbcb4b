-- store/sqlite/list_attempts.sql: the earlier attempts of a task, oldest first.
SELECT number, outcome, worker, started_ms, finished_ms, error_code, error_message, error_detail
  FROM attempt
 WHERE k = :k
 ORDER BY number;
