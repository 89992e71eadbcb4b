-- store/sqlite/check_body.sql: every order stands in exactly one place: among the live or in the history.
SELECT 'rows', 'task ' || task_id(b.k, b.lo) || iif(t.k IS NULL, ' is in neither task nor done',
                                                    ' is in both task and done')
  FROM body b LEFT JOIN task t ON t.k = b.k LEFT JOIN done d ON d.k = b.k
 WHERE (t.k IS NULL) = (d.k IS NULL)
 LIMIT 20;
