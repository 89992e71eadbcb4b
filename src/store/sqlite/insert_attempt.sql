-- store/sqlite/insert_attempt.sql: an attempt ended and its task goes on.
-- It may be there already: a task that was cancelled between two attempts is revived.
INSERT INTO attempt (k, number, outcome, worker, started_ms, finished_ms, error_code, error_message, error_detail)
VALUES (:k, :number, :outcome, :worker, :started_ms, :finished_ms, :error_code, :error_message, :error_detail)
ON CONFLICT DO NOTHING;
