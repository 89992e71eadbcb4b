-- store/sqlite/queue.sql: settings of queues, and how many tasks of each have ended.

-- name: save_queue
-- A queue's settings, new or changed.
INSERT INTO queue (name, paused, max_concurrent, rate_per_second, burst)
VALUES (:name, :paused, :max_concurrent, :rate_per_second, :burst)
ON CONFLICT DO UPDATE
   SET paused = excluded.paused, max_concurrent = excluded.max_concurrent,
       rate_per_second = excluded.rate_per_second, burst = excluded.burst;

-- name: list_queues
-- Queues with settings of their own.
SELECT name, paused, max_concurrent, rate_per_second, burst FROM queue ORDER BY name;

-- name: count_tasks
-- How many more tasks of one queue have ended, and how, in this commit.
INSERT INTO ended (queue_id, completed, failed, cancelled, timeout)
VALUES (:queue_id, :completed, :failed, :cancelled, :timeout)
ON CONFLICT DO UPDATE
   SET completed = completed + excluded.completed, failed = failed + excluded.failed,
       cancelled = cancelled + excluded.cancelled, timeout = timeout + excluded.timeout;

-- name: list_counts
-- The counters as they were at the last commit, to go on from.
SELECT queue_id, completed, failed, cancelled, timeout FROM ended;

-- name: find_count
-- The counters of one queue, as they were at the last commit.
SELECT queue_id, completed, failed, cancelled, timeout
  FROM ended
 WHERE queue_id = (SELECT id FROM name WHERE text = :queue);

-- name: delete_count
-- The last ended task of a queue is gone.
DELETE FROM ended WHERE queue_id = :queue_id;

-- name: count_live
-- Every live task, to be counted.
SELECT queue_id, state FROM task;
