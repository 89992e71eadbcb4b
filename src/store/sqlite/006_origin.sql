-- store/sqlite/006_origin.sql: what another protocol says of a task in its own words (task.origin).
ALTER TABLE body ADD COLUMN origin BLOB;
