-- store/postgres/list_results.sql: what a task depends on, with the results so far.
SELECT b.id, coalesce(t.state, d.state), d.result
  FROM dependency x
  JOIN body b ON b.id = x."on"
  LEFT JOIN task t ON t.id = b.id
  LEFT JOIN done d ON d.id = b.id
 WHERE x.id = $1
 ORDER BY b.id;
