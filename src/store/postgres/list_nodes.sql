-- store/postgres/list_nodes.sql: the nodes that live.
SELECT id, body, seen_ms FROM node ORDER BY id;
