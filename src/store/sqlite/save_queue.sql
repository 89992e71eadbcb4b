-- store/sqlite/save_queue.sql: a queue's settings, new or changed.
INSERT INTO queue (name, paused, max_concurrent, rate_per_second, burst)
VALUES (:name, :paused, :max_concurrent, :rate_per_second, :burst)
ON CONFLICT DO UPDATE
   SET paused = excluded.paused, max_concurrent = excluded.max_concurrent,
       rate_per_second = excluded.rate_per_second, burst = excluded.burst;
