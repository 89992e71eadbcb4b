-- store/sqlite/list_dependents.sql: who depends on a task, in order of creation. Asked at the end of every task, so the
-- nearly always empty answer comes from one look into the index.
SELECT b.k, b.lo
  FROM dependency x CROSS JOIN body me ON me.k = x.on_k CROSS JOIN body b ON b.k = x.k
 WHERE x.on_k = :k AND me.lo = :lo
 ORDER BY x.k;
