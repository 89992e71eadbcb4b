-- store/postgres/008_dispatch.sql: what the next attempt of a task that is sent on must know of those before.
-- JSON; nearly all tasks have none.

ALTER TABLE task ADD COLUMN dispatch bytea;
ALTER TABLE done ADD COLUMN dispatch bytea;
