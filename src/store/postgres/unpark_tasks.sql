-- store/postgres/unpark_tasks.sql: tasks left the line of a document: the best of those that wait unoffered comes forward.
-- Whoever makes a task wait unoffered holds the lock of one that stands before it (park_tasks.sql); so when that one has
-- left, this statement sees it.
UPDATE task
   SET offered = true
 WHERE state = 2
   AND id = ANY (ARRAY (
       SELECT best.id
         FROM (SELECT DISTINCT document, batch, queue, type
                 FROM unnest($1::bytea[], $2::uuid[], $3::text[], $4::text[]) AS c (document, batch, queue, type)) g
        CROSS JOIN LATERAL (SELECT x.id
                              FROM task x
                             WHERE x.document = g.document
                               AND coalesce(x.batch, '00000000-0000-0000-0000-000000000000') = coalesce(g.batch, '00000000-0000-0000-0000-000000000000')
                               AND x.queue = g.queue AND x.type = g.type
                               AND x.state = 2 AND NOT x.container AND NOT x.offered
                             ORDER BY -x.priority, x.queued_ms, x.id
                             LIMIT 1) best));
