-- store/sqlite/list_children.sql: the children of a task in order of creation.
SELECT b.k, b.lo
  FROM body p JOIN child c ON c.parent_k = p.k JOIN body b ON b.k = c.k
 WHERE p.k = :k AND p.lo = :lo
 ORDER BY c.k;
