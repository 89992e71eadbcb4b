-- store/sqlite/find_record.sql: which record has a key.
SELECT id FROM record WHERE kind = :kind AND key = :key;
