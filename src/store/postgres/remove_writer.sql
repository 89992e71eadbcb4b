-- store/postgres/remove_writer.sql: a store is closed.
WITH closed AS (DELETE FROM writer WHERE node = $1)
DELETE FROM mark WHERE node = $1;
