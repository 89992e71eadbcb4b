-- store/postgres/relation.sql: who is whose child, and who waits for whom.

-- name: kin_children
-- The children of tasks in order of creation, and how they stand.
SELECT b.parent, b.id, coalesce(t.state, d.state)
  FROM body b
  LEFT JOIN task t ON t.id = b.id
  LEFT JOIN done d ON d.id = b.id
 WHERE b.parent = ANY ($ids::uuid[]) AND ($after::uuid IS NULL OR b.id > $after)
 ORDER BY b.parent, b.id
 LIMIT $most;

-- name: kin_dependencies
-- What these tasks depend on, in order of creation, and how that stands.
SELECT x.id, b.id, coalesce(t.state, d.state)
  FROM dependency x
  JOIN body b ON b.id = x."on"
  LEFT JOIN task t ON t.id = b.id
  LEFT JOIN done d ON d.id = b.id
 WHERE x.id = ANY ($ids::uuid[]) AND ($after::uuid IS NULL OR x."on" > $after)
 ORDER BY x.id, b.id
 LIMIT $most;

-- name: kin_waiting
-- Who depends on these tasks and is WAITING, in order of creation.
SELECT x."on", x.id, t.state
  FROM dependency x
  JOIN task t ON t.id = x.id
 WHERE x."on" = ANY ($ids::uuid[]) AND ($after::uuid IS NULL OR x.id > $after) AND t.state = :WAITING
 ORDER BY x."on", x.id
 LIMIT $most;

-- name: list_children
-- The children of a task in order of creation.
SELECT id FROM body WHERE parent = $parent ORDER BY id;

-- name: list_results
-- What a task depends on, with the results so far.
SELECT b.id, coalesce(t.state, d.state), d.result
  FROM dependency x
  JOIN body b ON b.id = x."on"
  LEFT JOIN task t ON t.id = b.id
  LEFT JOIN done d ON d.id = b.id
 WHERE x.id = $id
 ORDER BY b.id;
