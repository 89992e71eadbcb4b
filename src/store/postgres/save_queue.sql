-- store/postgres/save_queue.sql: a queue's settings, new or changed. A rate that is new begins with a full bucket.
INSERT INTO queue AS q (name, paused, max_concurrent, rate_per_second, burst)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (name) DO UPDATE
   SET paused = excluded.paused, max_concurrent = excluded.max_concurrent,
       rate_per_second = excluded.rate_per_second, burst = excluded.burst,
       tokens_ms = CASE WHEN q.rate_per_second > 0 AND excluded.rate_per_second > 0 THEN q.tokens_ms ELSE 0 END;
