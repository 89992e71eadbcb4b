-- store/postgres/remove_writer.sql: a store is closed.
DELETE FROM writer WHERE node = $1;
