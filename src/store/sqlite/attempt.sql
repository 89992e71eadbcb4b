-- store/sqlite/attempt.sql: earlier attempts of tasks, and what attempts said.

-- name: insert_attempt
-- An attempt ended and its task goes on.
-- It may be there already: a task that was cancelled between two attempts is revived.
INSERT INTO attempt (k, number, outcome, worker, started_ms, finished_ms, error_code, error_message, error_detail)
VALUES (:k, :number, :outcome, :worker, :started_ms, :finished_ms, :error_code, :error_message, :error_detail)
ON CONFLICT DO NOTHING;

-- name: list_attempts
-- The earlier attempts of a task, oldest first.
SELECT number, outcome, worker, started_ms, finished_ms, error_code, error_message, error_detail
  FROM attempt
 WHERE k = :k
 ORDER BY number;

-- name: append_log
-- More lines of an attempt, behind what it said before.
INSERT INTO log (k, number, until_byte, text)
VALUES (:k, :number,
        length(:text) + coalesce((SELECT max(until_byte) FROM log WHERE k = :k AND number = :number), 0),
        :text);

-- name: trim_log
-- Pieces that lie wholly below the part that is kept go.
DELETE FROM log
 WHERE k = :k AND number = :number
   AND until_byte <= (SELECT max(until_byte) FROM log WHERE k = :k AND number = :number) - :keep;

-- name: list_log
-- What an attempt said, in order.
SELECT text FROM log WHERE k = :k AND number = :number ORDER BY until_byte;
