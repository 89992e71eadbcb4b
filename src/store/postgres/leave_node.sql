-- store/postgres/leave_node.sql: a node stops.
DELETE FROM node WHERE id = $1;
