-- store/sqlite/relation.sql: who is whose child, and who waits for whom.

-- name: insert_child
-- A new task has a parent.
INSERT INTO child (parent_k, k) VALUES (:parent_k, :k);

-- name: insert_dependency
-- A new task depends on another; named twice it counts once.
INSERT INTO dependency (k, on_k) VALUES (:k, :on_k) ON CONFLICT DO NOTHING;

-- name: kin_children
-- The children of a task in order of creation, and how they stand.
SELECT b.k, b.lo, coalesce(t.state, d.state)
  FROM body p JOIN child c ON c.parent_k = p.k JOIN body b ON b.k = c.k
  LEFT JOIN task t ON t.k = c.k LEFT JOIN done d ON d.k = c.k
 WHERE p.k = :k AND p.lo = :lo AND c.k > :after
 ORDER BY c.k
 LIMIT :most;

-- name: kin_dependencies
-- What a task depends on, in order of creation, and how that stands.
SELECT b.k, b.lo, coalesce(t.state, d.state)
  FROM body me JOIN dependency x ON x.k = me.k JOIN body b ON b.k = x.on_k
  LEFT JOIN task t ON t.k = b.k LEFT JOIN done d ON d.k = b.k
 WHERE me.k = :k AND me.lo = :lo AND x.on_k > :after
 ORDER BY x.on_k
 LIMIT :most;

-- name: kin_waiting
-- Who depends on a task and is WAITING, in order of creation. Asked at the end of every
-- task, so the nearly always empty answer comes from one look into the index.
SELECT b.k, b.lo, t.state
  FROM dependency x CROSS JOIN body me ON me.k = x.on_k CROSS JOIN task t ON t.k = x.k CROSS JOIN body b ON b.k = x.k
 WHERE x.on_k = :k AND me.lo = :lo AND x.k > :after AND t.state = :WAITING
 ORDER BY x.k
 LIMIT :most;

-- name: list_children
-- The children of a task in order of creation.
SELECT b.k, b.lo
  FROM body p JOIN child c ON c.parent_k = p.k JOIN body b ON b.k = c.k
 WHERE p.k = :k AND p.lo = :lo
 ORDER BY c.k;

-- name: list_results
-- What a task depends on, with the results so far.
SELECT b.k, b.lo, coalesce(t.state, d.state), d.result
  FROM dependency x JOIN body b ON b.k = x.on_k LEFT JOIN task t ON t.k = b.k LEFT JOIN done d ON d.k = b.k
 WHERE x.k = :k
 ORDER BY x.on_k;
