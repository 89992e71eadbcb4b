-- store/postgres/propose.sql: what could start next, best first: the first window of a walk; see propose_behind.sql.
-- A lane is the line of one queue and type. The lanes are the pairs of those asked for, or are found by walking along the
-- index from one to the next; each gives its best, and the best of these are the window. No row is locked yet.
-- $1 queues (NULL: all but $2), $3 types (NULL: any), $4 rows at most.
WITH RECURSIVE walk AS (
    (SELECT queue, type
       FROM task
      WHERE state = 2 AND offered AND NOT container AND ($1::text[] IS NULL OR $3::text[] IS NULL)
      ORDER BY queue, type
      LIMIT 1)
    UNION ALL
    SELECT n.queue, n.type
      FROM walk w
     CROSS JOIN LATERAL (SELECT t.queue, t.type
                           FROM task t
                          WHERE t.state = 2 AND t.offered AND NOT t.container AND (t.queue, t.type) > (w.queue, w.type)
                          ORDER BY t.queue, t.type
                          LIMIT 1) n
), lane AS (
    SELECT queue, type
      FROM walk
     WHERE ($1::text[] IS NULL OR queue = ANY ($1)) AND ($3::text[] IS NULL OR type = ANY ($3))
       AND queue <> ALL ($2::text[])
    UNION ALL
    SELECT DISTINCT queue, type
      FROM unnest($1::text[]) AS q (queue)
     CROSS JOIN unnest($3::text[]) AS t (type)
     WHERE queue <> ALL ($2::text[])
)
SELECT c.id, c.type, c.queue, c.document, c.priority, c.queued_ms,
       EXISTS (SELECT 1 FROM doc_lease h WHERE h.document = c.document AND h.holder <> coalesce(c.batch, c.id)),
       c.batch
  FROM lane l
 CROSS JOIN LATERAL (SELECT t.id, t.type, t.queue, t.document, t.batch, t.priority, t.queued_ms
                       FROM task t
                      WHERE t.queue = l.queue COLLATE "C" AND t.type = l.type COLLATE "C"
                        AND t.state = 2 AND t.offered AND NOT t.container
                      ORDER BY -t.priority, t.queued_ms, t.id
                      LIMIT $4) c
 ORDER BY -c.priority, c.queued_ms, c.id
 LIMIT $4;
