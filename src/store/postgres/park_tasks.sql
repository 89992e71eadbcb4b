-- store/postgres/park_tasks.sql: tasks that stand behind another of their document, batch, queue and type are no longer proposed.
-- Else everybody who looks for work would have to walk along them, again and again, while the document is held. The one
-- before them is locked, so that it cannot leave meanwhile; when it leaves, unpark_tasks.sql lets the best of these come
-- forward. What others have locked is passed over: it costs them a look, nothing else.
WITH first AS MATERIALIZED (
    SELECT t.id, t.document, t.batch, t.queue, t.type, t.priority, t.queued_ms
      FROM unnest($1::uuid[]) AS k (id)
      JOIN task t ON t.id = k.id AND t.id = ANY ($1)
     WHERE t.state = 2 AND t.offered AND NOT t.container AND t.document IS NOT NULL
       FOR UPDATE OF t SKIP LOCKED
), behind AS MATERIALIZED (
    SELECT x.id
      FROM first f
     CROSS JOIN LATERAL (SELECT t.id
                           FROM task t
                          WHERE t.document = f.document
                            AND coalesce(t.batch, '00000000-0000-0000-0000-000000000000') = coalesce(f.batch, '00000000-0000-0000-0000-000000000000')
                            AND t.queue = f.queue AND t.type = f.type
                            AND t.state = 2 AND NOT t.container AND t.offered
                            AND (-t.priority, t.queued_ms, t.id) > (-f.priority, f.queued_ms, f.id)
                          ORDER BY -t.priority, t.queued_ms, t.id
                          LIMIT 5000
                            FOR UPDATE SKIP LOCKED) x
)
UPDATE task SET offered = false WHERE id = ANY (ARRAY (SELECT id FROM behind)) AND state = 2;
