-- store/postgres/node.sql: the nodes of a fleet, their clock, and what is due or to be cancelled among their tasks.

-- name: beat_node
-- A node lives.
INSERT INTO node (id, body, seen_ms, writer) VALUES ($id, $body, @now_ms, $writer)
ON CONFLICT (id) DO UPDATE SET body = excluded.body, seen_ms = excluded.seen_ms, writer = excluded.writer;

-- name: leave_node
-- A node stops.
DELETE FROM node WHERE id = $id;

-- name: forget_nodes
-- Nodes that were not seen since are dead.
DELETE FROM node WHERE seen_ms < $dead_before_ms;

-- name: list_nodes
-- The nodes that live.
SELECT id, body, seen_ms FROM node ORDER BY id;

-- name: read_clock
-- What time it is for all nodes.
SELECT @now_ms;

-- fragment: behind(of)
-- Due by then, and behind the last one that was seen.
of.due_ms <= $until_ms::bigint
            AND (of.due_ms, of.id) > ($after_ms::bigint, coalesce($after::uuid, '00000000-0000-0000-0000-000000000000'))

-- name: list_due_tasks
-- Live tasks to which something happens by itself, earliest first, behind ($2, $3).
-- takes: until_ms, after_ms, after, most
-- What runs is found queue by queue: from one to the next along the index, and the first of each.
WITH RECURSIVE walk AS (
    (SELECT queue FROM task WHERE state = :RUNNING AND NOT container ORDER BY queue LIMIT 1)
    UNION ALL
    SELECT n.queue
      FROM walk w
     CROSS JOIN LATERAL (SELECT t.queue FROM task t WHERE t.state = :RUNNING AND NOT t.container AND t.queue > w.queue
                          ORDER BY t.queue LIMIT 1) n
)
SELECT id, due_ms
  FROM ((SELECT id, due_ms
           FROM task
          WHERE due_ms IS NOT NULL AND state <> :RUNNING AND @behind(task)
          ORDER BY due_ms, id
          LIMIT $most)
        UNION ALL
        SELECT r.id, r.due_ms
          FROM walk w
         CROSS JOIN LATERAL (SELECT t.id, t.due_ms
                               FROM task t
                              WHERE t.state = :RUNNING AND NOT t.container AND t.queue = w.queue AND @behind(t)
                              ORDER BY t.due_ms, t.id
                              LIMIT $most) r) x
 ORDER BY due_ms, id
 LIMIT $most;

-- name: list_cancelled
-- Attempts by workers whose names end in $1 that are to be cancelled.
SELECT id
  FROM task
 WHERE state = :RUNNING AND cancel_requested
   AND octet_length(worker) >= octet_length($ending::bytea)
   AND substring(worker FROM octet_length(worker) - octet_length($ending::bytea) + 1) = $ending
 ORDER BY id;
