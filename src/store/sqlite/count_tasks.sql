-- store/sqlite/count_tasks.sql: how many more tasks of one queue have ended, and how, in this commit.
INSERT INTO ended (queue_id, completed, failed, cancelled, timeout)
VALUES (:queue_id, :completed, :failed, :cancelled, :timeout)
ON CONFLICT DO UPDATE
   SET completed = completed + excluded.completed, failed = failed + excluded.failed,
       cancelled = cancelled + excluded.cancelled, timeout = timeout + excluded.timeout;
