-- store/postgres/clear_records.sql: all records of a kind that belong to one parent go.
DELETE FROM record WHERE kind = $1 AND parent = $2;
