-- store/postgres/propose.sql: what could start next, straight from the rows.

-- fragment: family(of)
-- The family of a task, to compare with; the column has the name that families had once.
coalesce(of.batch, '00000000-0000-0000-0000-000000000000')

-- fragment: window(behind)
-- The best of what could start, as a window of $most rows. The pairs of a queue and a type are those asked
-- for, or are found by walking along the index from one to the next; each gives its best, and the best of these are the window. No
-- row is locked yet. $queues NULL: all but those of $without; $types NULL: any.
WITH RECURSIVE walk AS (
    (SELECT queue, type
       FROM task
      WHERE state = :QUEUED AND offered AND NOT container AND ($queues::text[] IS NULL OR $types::text[] IS NULL)
      ORDER BY queue, type
      LIMIT 1)
    UNION ALL
    SELECT n.queue, n.type
      FROM walk w
     CROSS JOIN LATERAL (SELECT t.queue, t.type
                           FROM task t
                          WHERE t.state = :QUEUED AND t.offered AND NOT t.container AND (t.queue, t.type) > (w.queue, w.type)
                          ORDER BY t.queue, t.type
                          LIMIT 1) n
), pair AS (
    SELECT queue, type
      FROM walk
     WHERE ($queues::text[] IS NULL OR queue = ANY ($queues)) AND ($types::text[] IS NULL OR type = ANY ($types))
       AND queue <> ALL ($without::text[])
    UNION ALL
    SELECT DISTINCT queue, type
      FROM unnest($queues::text[]) AS q (queue)
     CROSS JOIN unnest($types::text[]) AS t (type)
     WHERE queue <> ALL ($without::text[])
)
SELECT c.id, c.type, c.queue, c.document, c.priority, c.queued_ms,
       EXISTS (SELECT 1 FROM doc_lease h WHERE h.document = c.document AND h.holder <> coalesce(c.batch, c.id)),
       c.batch
  FROM pair p
 CROSS JOIN LATERAL (SELECT t.id, t.type, t.queue, t.document, t.batch, t.priority, t.queued_ms
                       FROM task t
                      WHERE t.queue = p.queue COLLATE "C" AND t.type = p.type COLLATE "C"
                        AND t.state = :QUEUED AND t.offered AND NOT t.container AND behind
                      ORDER BY -t.priority, t.queued_ms, t.id
                      LIMIT $most) c
 ORDER BY -c.priority, c.queued_ms, c.id
 LIMIT $most;

-- name: propose
-- The first window of a walk.
-- takes: queues, without, types, most
@window(true)

-- name: propose_behind
-- The window behind a task. A statement of its own, because the server keeps its plan, and a condition that may be absent would
-- keep that from going on along the index.
-- takes: queues, without, types, most, priority, queued_ms, id
@window((-t.priority, t.queued_ms, t.id) > (-$priority::integer, $queued_ms::bigint, $id::uuid))

-- name: lock_proposed
-- Takes what was found, but for what another transaction has already or is taking.
-- The document is looked at again, now that nobody else can take it.
SELECT t.id
  FROM task t
 WHERE t.id = ANY ($ids) AND t.state = :QUEUED
   AND coalesce((SELECT h.holder = coalesce(t.batch, t.id) FROM doc_lease h WHERE h.document = t.document), true)
   FOR UPDATE SKIP LOCKED;

-- name: park_tasks
-- Tasks that stand behind another of their document, family, queue and type are no longer proposed.
-- Else everybody who looks for work would have to walk along them, again and again, while the document is held. The one
-- before them is locked, so that it cannot leave meanwhile; when it leaves, unpark_tasks lets the best of these come
-- forward. What others have locked is passed over: it costs them a look, nothing else.
WITH first AS MATERIALIZED (
    SELECT t.id, t.document, t.batch, t.queue, t.type, t.priority, t.queued_ms
      FROM @table(k: id uuid)
      JOIN task t ON t.id = k.id AND t.id = ANY ($id)
     WHERE t.state = :QUEUED AND t.offered AND NOT t.container AND t.document IS NOT NULL
       FOR UPDATE OF t SKIP LOCKED
), behind AS MATERIALIZED (
    SELECT x.id
      FROM first f
     CROSS JOIN LATERAL (SELECT t.id
                           FROM task t
                          WHERE t.document = f.document
                            AND @family(t) = @family(f)
                            AND t.queue = f.queue AND t.type = f.type
                            AND t.state = :QUEUED AND NOT t.container AND t.offered
                            AND (-t.priority, t.queued_ms, t.id) > (-f.priority, f.queued_ms, f.id)
                          ORDER BY -t.priority, t.queued_ms, t.id
                          LIMIT 5000
                            FOR UPDATE SKIP LOCKED) x
)
UPDATE task SET offered = false WHERE id = ANY (ARRAY (SELECT id FROM behind)) AND state = :QUEUED;

-- name: unpark_tasks
-- Tasks left the line of a document: the best of those that wait unoffered comes forward.
-- Whoever makes a task wait unoffered holds the lock of one that stands before it (park_tasks); so when that one has
-- left, this statement sees it.
UPDATE task
   SET offered = true
 WHERE state = :QUEUED
   AND id = ANY (ARRAY (
       SELECT best.id
         FROM (SELECT DISTINCT document, batch, queue, type
                 FROM @table(c: document bytea, batch uuid, queue text, type text)) g
        CROSS JOIN LATERAL (SELECT x.id
                              FROM task x
                             WHERE x.document = g.document
                               AND @family(x) = @family(g)
                               AND x.queue = g.queue AND x.type = g.type
                               AND x.state = :QUEUED AND NOT x.container AND NOT x.offered
                             ORDER BY -x.priority, x.queued_ms, x.id
                             LIMIT 1) best));

-- fragment: oldest(wanted)
-- How long the oldest QUEUED task has waited. Walks along the index from one queue, type and priority to the next, and looks at
-- the first of each; those that are not proposed likewise, from line to line. Behind walk_along: no plan may sort what it walks along.
WITH RECURSIVE walk AS (
    (SELECT t.queue, t.type, -t.priority AS rank, t.queued_ms
       FROM task t
      WHERE t.state = :QUEUED AND t.offered AND NOT t.container AND wanted
      ORDER BY t.queue, t.type, -t.priority, t.queued_ms
      LIMIT 1)
    UNION ALL
    SELECT n.queue, n.type, n.rank, n.queued_ms
      FROM walk w
     CROSS JOIN LATERAL (SELECT t.queue, t.type, -t.priority AS rank, t.queued_ms
                           FROM task t
                          WHERE t.state = :QUEUED AND t.offered AND NOT t.container AND wanted
                            AND (t.queue, t.type, -t.priority) > (w.queue, w.type, w.rank)
                          ORDER BY t.queue, t.type, -t.priority, t.queued_ms
                          LIMIT 1) n
), parked AS (
    (SELECT t.document, @family(t) AS family, t.queue, t.type, -t.priority AS rank, t.queued_ms
       FROM task t
      WHERE t.state = :QUEUED AND NOT t.container AND NOT t.offered
      ORDER BY t.document, @family(t), t.queue, t.type, -t.priority, t.queued_ms
      LIMIT 1)
    UNION ALL
    SELECT n.document, n.family, n.queue, n.type, n.rank, n.queued_ms
      FROM parked p
     CROSS JOIN LATERAL (SELECT t.document, @family(t) AS family, t.queue, t.type, -t.priority AS rank, t.queued_ms
                           FROM task t
                          WHERE t.state = :QUEUED AND NOT t.container AND NOT t.offered
                            AND (t.document, @family(t), t.queue, t.type, -t.priority) > (p.document, p.family, p.queue, p.type, p.rank)
                          ORDER BY t.document, @family(t), t.queue, t.type, -t.priority, t.queued_ms
                          LIMIT 1) n
)
SELECT least((SELECT min(t.queued_ms) FROM walk t), (SELECT min(t.queued_ms) FROM parked t WHERE wanted));

-- name: walk_along
-- How statements are planned that walk along an index, in this transaction.
SELECT set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'off', true);

-- name: find_oldest
-- Of all queues.
@oldest(true)

-- name: find_oldest_in
-- Of one queue.
@oldest(t.queue = $queue::text COLLATE "C")

-- name: list_queued
-- QUEUED tasks that may be offered, by id.
-- A task whose own family holds the document already need not stand in line for it.
SELECT t.id, t.type, t.queue,
       CASE WHEN EXISTS (SELECT 1 FROM doc_lease h WHERE h.document = t.document AND h.holder = t.batch) THEN NULL
            ELSE t.document END,
       t.priority, t.queued_ms
  FROM task t
 WHERE t.state = :QUEUED AND NOT t.container AND ($after::uuid IS NULL OR t.id > $after)
 ORDER BY t.id
 LIMIT $most;
