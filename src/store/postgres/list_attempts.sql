-- store/postgres/list_attempts.sql: the earlier attempts of a task, oldest first.
SELECT number, outcome, worker, started_ms, finished_ms, error_code, error_message, error_detail
  FROM attempt
 WHERE id = $1
 ORDER BY number;
