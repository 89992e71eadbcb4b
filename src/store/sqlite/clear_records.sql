-- store/sqlite/clear_records.sql: all records of a kind that belong to one parent go.
DELETE FROM record WHERE kind = :kind AND parent = :parent;
