-- store/sqlite/find_remains.sql: what else has to go when this finished task goes.
SELECT b.queue_id, d.state, b.key, b.document, b.external_id, b.tags,
       b.parent_hi, b.parent_lo, b.team_hi, b.team_lo, b.schedule_hi, b.schedule_lo
  FROM done d JOIN body b ON b.k = d.k
 WHERE d.k = :k AND b.lo = :lo;
