-- store/sqlite/count_tasks.sql: what a commit changed in one queue.
INSERT INTO counter (queue_id, scheduled, waiting, queued, running, retrying, completed, failed, cancelled, timeout)
VALUES (:queue_id, :scheduled, :waiting, :queued, :running, :retrying, :completed, :failed, :cancelled, :timeout)
ON CONFLICT DO UPDATE
   SET scheduled = scheduled + excluded.scheduled, waiting = waiting + excluded.waiting,
       queued = queued + excluded.queued, running = running + excluded.running,
       retrying = retrying + excluded.retrying, completed = completed + excluded.completed,
       failed = failed + excluded.failed, cancelled = cancelled + excluded.cancelled,
       timeout = timeout + excluded.timeout;
