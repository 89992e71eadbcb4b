-- store/postgres/kin_waiting.sql: who depends on these tasks and is WAITING, in order of creation.
SELECT x."on", x.id, t.state
  FROM dependency x
  JOIN task t ON t.id = x.id
 WHERE x."on" = ANY ($1::uuid[]) AND ($2::uuid IS NULL OR x.id > $2) AND t.state = 1
 ORDER BY x."on", x.id
 LIMIT $3;
