-- store/postgres/forget_nodes.sql: nodes that were not seen since are dead.
DELETE FROM node WHERE seen_ms < $1;
