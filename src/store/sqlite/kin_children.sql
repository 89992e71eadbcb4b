-- store/sqlite/kin_children.sql: the children of a task in order of creation, and how they stand.
SELECT b.k, b.lo, coalesce(t.state, d.state)
  FROM body p JOIN child c ON c.parent_k = p.k JOIN body b ON b.k = c.k
  LEFT JOIN task t ON t.k = c.k LEFT JOIN done d ON d.k = c.k
 WHERE p.k = :k AND p.lo = :lo AND c.k > :after
 ORDER BY c.k
 LIMIT :most;
