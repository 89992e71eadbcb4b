-- store/sqlite/kin_waiting.sql: who depends on a task and is WAITING, in order of creation. Asked at the end of every
-- task, so the nearly always empty answer comes from one look into the index.
SELECT b.k, b.lo, t.state
  FROM dependency x CROSS JOIN body me ON me.k = x.on_k CROSS JOIN task t ON t.k = x.k CROSS JOIN body b ON b.k = x.k
 WHERE x.on_k = :k AND me.lo = :lo AND x.k > :after AND t.state = 1
 ORDER BY x.k
 LIMIT :most;
