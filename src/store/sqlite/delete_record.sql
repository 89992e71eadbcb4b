-- store/sqlite/delete_record.sql: one record goes.
DELETE FROM record WHERE kind = :kind AND id = :id;
