-- store/postgres/check_body.sql: every order stands in exactly one place: among the live or in the history.
SELECT 'rows', 'task ' || b.id || CASE WHEN t.id IS NULL THEN ' is in neither task nor done'
                                       ELSE ' is in both task and done' END
  FROM body b
  LEFT JOIN task t ON t.id = b.id
  LEFT JOIN done d ON d.id = b.id
 WHERE (t.id IS NULL) = (d.id IS NULL)
 LIMIT 20;
