-- store/sqlite/kin_dependencies.sql: what a task depends on, in order of creation, and how that stands.
SELECT b.k, b.lo, coalesce(t.state, d.state)
  FROM body me JOIN dependency x ON x.k = me.k JOIN body b ON b.k = x.on_k
  LEFT JOIN task t ON t.k = b.k LEFT JOIN done d ON d.k = b.k
 WHERE me.k = :k AND me.lo = :lo AND x.on_k > :after
 ORDER BY x.on_k
 LIMIT :most;
