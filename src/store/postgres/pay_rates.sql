-- store/postgres/pay_rates.sql: what started takes from the buckets of the queues that have a rate limit. The bucket fills with time,
-- by the clock of whoever is ahead.
UPDATE queue q
   SET tokens = least(s.burst, CASE WHEN q.tokens_ms = 0 THEN s.burst
                                    ELSE q.tokens + greatest(0, s.at_ms - q.tokens_ms) / 1000.0 * q.rate_per_second
                               END) - s.starts,
       tokens_ms = greatest(q.tokens_ms, s.at_ms)
  FROM (SELECT name, CASE WHEN burst > 0 THEN burst ELSE greatest(1, ceil(rate_per_second)) END AS burst, starts, at_ms
          FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS c (queue, starts, at_ms)
          JOIN queue ON queue.name = c.queue AND rate_per_second > 0
         ORDER BY name) s
 WHERE q.name = s.name;
