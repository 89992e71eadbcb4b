-- store/sqlite/list_results.sql: what a task depends on, with the results so far.
SELECT b.k, b.lo, coalesce(t.state, d.state), d.result
  FROM dependency x JOIN body b ON b.k = x.on_k LEFT JOIN task t ON t.k = b.k LEFT JOIN done d ON d.k = b.k
 WHERE x.k = :k
 ORDER BY x.on_k;
