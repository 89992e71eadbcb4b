-- store/postgres/check_copies.sql: the hot row repeats its order faithfully, and every tag is found.
SELECT 'rows', 'task ' || b.id || ': the hot row differs from its body'
  FROM task t
  JOIN body b ON b.id = t.id
 WHERE t.type <> b.type OR t.queue <> b.queue OR t.document IS DISTINCT FROM b.document
    OR t.expires_ms <> b.expires_ms OR t.batch IS DISTINCT FROM b.batch OR t.container <> b.container
UNION ALL
SELECT 'index', 'task ' || b.id || CASE WHEN b.tags IS NULL THEN ' is listed under a tag that it does not have'
                                        ELSE ' is missing in the list of tags' END
  FROM body b
 WHERE (b.tags IS NULL) = EXISTS (SELECT 1 FROM tag g WHERE g.id = b.id)
 LIMIT 20;
