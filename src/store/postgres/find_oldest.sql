-- store/postgres/find_oldest.sql: how long the oldest QUEUED task has waited, in one queue or (NULL) in all.
-- Walks along the index from one queue, type and priority to the next, and looks at the first of each; those that are not
-- proposed are few, or nearly none.
WITH RECURSIVE walk AS (
    (SELECT queue, type, -priority AS rank, queued_ms
       FROM task
      WHERE state = 2 AND offered AND NOT container AND ($1::text IS NULL OR queue = $1)
      ORDER BY queue, type, -priority, queued_ms
      LIMIT 1)
    UNION ALL
    SELECT n.queue, n.type, n.rank, n.queued_ms
      FROM walk w
     CROSS JOIN LATERAL (SELECT t.queue, t.type, -t.priority AS rank, t.queued_ms
                           FROM task t
                          WHERE t.state = 2 AND t.offered AND NOT t.container AND ($1::text IS NULL OR t.queue = $1)
                            AND (t.queue, t.type, -t.priority) > (w.queue, w.type, w.rank)
                          ORDER BY t.queue, t.type, -t.priority, t.queued_ms
                          LIMIT 1) n
)
SELECT least((SELECT min(queued_ms) FROM walk),
             (SELECT min(queued_ms)
                FROM task
               WHERE state = 2 AND NOT container AND NOT offered AND ($1::text IS NULL OR queue = $1)));
