-- store/postgres/lock_rooms.sql: queues that are paused or limited, locked in order of their names until the claim is committed.
SELECT name, paused, max_concurrent, rate_per_second, burst, tokens, tokens_ms
  FROM queue
 WHERE (paused OR max_concurrent > 0 OR rate_per_second > 0) AND ($1::text[] IS NULL OR name = ANY ($1))
 ORDER BY name
   FOR UPDATE;
