-- store/postgres/kin_children.sql: the children of tasks in order of creation, and how they stand.
SELECT b.parent, b.id, coalesce(t.state, d.state)
  FROM body b
  LEFT JOIN task t ON t.id = b.id
  LEFT JOIN done d ON d.id = b.id
 WHERE b.parent = ANY ($1::uuid[]) AND ($2::uuid IS NULL OR b.id > $2)
 ORDER BY b.parent, b.id
 LIMIT $3;
