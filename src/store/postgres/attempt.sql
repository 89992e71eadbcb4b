-- store/postgres/attempt.sql: earlier attempts of tasks, and what attempts said.

-- name: insert_attempts
-- Attempts after which their task went on. One that is on record stays as it is: a task
-- that was cancelled between two attempts and revived tells its last one again.
INSERT INTO attempt (id, number, outcome, worker, started_ms, finished_ms, error_code, error_message, error_detail)
SELECT *
  FROM @table(c: id uuid, number integer, outcome integer, worker bytea, started_ms bigint, finished_ms bigint, error_code bytea,
              error_message bytea, error_detail bytea)
    ON CONFLICT DO NOTHING;

-- name: list_attempts
-- The earlier attempts of a task, oldest first.
SELECT number, outcome, worker, started_ms, finished_ms, error_code, error_message, error_detail
  FROM attempt
 WHERE id = $id
 ORDER BY number;

-- name: append_logs
-- More lines of attempts, each behind what it said before.
INSERT INTO log (id, number, until_byte, text)
SELECT c.id, c.number,
       coalesce((SELECT max(l.until_byte) FROM log l WHERE l.id = c.id AND l.number = c.number), 0)
       + sum(octet_length(c.text)) OVER (PARTITION BY c.id, c.number ORDER BY c.n),
       c.text
  FROM @table(c: id uuid, number integer, text bytea, n);

-- name: trim_logs
-- Pieces that lie wholly below the part that is kept (TASK_LOG_MAX) go.
DELETE FROM log l
 USING (SELECT DISTINCT id, number FROM @table(c: id uuid, number integer, text bytea)) c
 WHERE l.id = c.id AND l.number = c.number
   AND l.until_byte <= (SELECT max(m.until_byte) FROM log m WHERE m.id = c.id AND m.number = c.number) - :LOG_MAX;

-- name: list_logs
-- What the attempts of a task said, in order.
SELECT number, text FROM log WHERE id = $id ORDER BY number, until_byte;
