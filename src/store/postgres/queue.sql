-- store/postgres/queue.sql: settings of queues, and what may start in them.

-- name: save_queue
-- A queue's settings, new or changed. A rate that is new begins with a full bucket.
INSERT INTO queue AS q (name, paused, max_concurrent, rate_per_second, burst)
VALUES ($name, $paused, $max_concurrent, $rate_per_second, $burst)
ON CONFLICT (name) DO UPDATE
   SET paused = excluded.paused, max_concurrent = excluded.max_concurrent,
       rate_per_second = excluded.rate_per_second, burst = excluded.burst,
       tokens_ms = CASE WHEN q.rate_per_second > 0 AND excluded.rate_per_second > 0 THEN q.tokens_ms ELSE 0 END;

-- name: list_queues
-- Queues with settings of their own.
SELECT name, paused, max_concurrent, rate_per_second, burst FROM queue ORDER BY name;

-- name: lock_rooms
-- Queues that are paused or limited, locked in order of their names until the claim is committed.
SELECT name, paused, max_concurrent, rate_per_second, burst, tokens, tokens_ms
  FROM queue
 WHERE (paused OR max_concurrent > 0 OR rate_per_second > 0) AND ($queues::text[] IS NULL OR name = ANY ($queues))
 ORDER BY name
   FOR UPDATE;

-- name: expect_open
-- Fails a transaction that took these queues for neither paused nor limited, if one of them is.
SELECT 1 / CASE WHEN EXISTS (SELECT 1
                               FROM queue
                              WHERE (paused OR max_concurrent > 0 OR rate_per_second > 0) AND name = ANY ($queues::text[])) THEN 0 ELSE 1 END;

-- name: count_running
-- How many attempts run in each queue that limits them. Behind lock_rooms: whoever starts
-- another one there has to wait for its lock.
SELECT t.queue, count(*)
  FROM task t
 WHERE t.state = :RUNNING AND NOT t.container
   AND t.queue = ANY (ARRAY (SELECT name FROM queue WHERE max_concurrent > 0 AND ($queues::text[] IS NULL OR name = ANY ($queues))))
 GROUP BY t.queue;

-- name: pay_rates
-- What started takes from the buckets of the queues that have a rate limit. The bucket fills with time,
-- by the clock of whoever is ahead.
UPDATE queue q
   SET tokens = least(s.burst, CASE WHEN q.tokens_ms = 0 THEN s.burst
                                    ELSE q.tokens + greatest(0, s.at_ms - q.tokens_ms) / 1000.0 * q.rate_per_second
                               END) - s.starts,
       tokens_ms = greatest(q.tokens_ms, s.at_ms)
  FROM (SELECT name, CASE WHEN burst > 0 THEN burst ELSE greatest(1, ceil(rate_per_second)) END AS burst, starts, at_ms
          FROM @table(c: queue text, starts bigint, at_ms bigint)
          JOIN queue ON queue.name = c.queue AND rate_per_second > 0
         ORDER BY name) s
 WHERE q.name = s.name;
