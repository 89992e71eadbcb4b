-- store/postgres/kin_dependencies.sql: what these tasks depend on, in order of creation, and how that stands.
SELECT x.id, b.id, coalesce(t.state, d.state)
  FROM dependency x
  JOIN body b ON b.id = x."on"
  LEFT JOIN task t ON t.id = b.id
  LEFT JOIN done d ON d.id = b.id
 WHERE x.id = ANY ($1::uuid[]) AND ($2::uuid IS NULL OR x."on" > $2)
 ORDER BY x.id, b.id
 LIMIT $3;
