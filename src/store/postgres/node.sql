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

-- name: list_due_tasks
-- Live tasks to which something happens by itself, earliest first, behind ($2, $3).
SELECT id, due_ms
  FROM task
 WHERE due_ms <= $until_ms
   AND (due_ms, id) > ($after_ms::bigint, coalesce($after::uuid, '00000000-0000-0000-0000-000000000000'))
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
