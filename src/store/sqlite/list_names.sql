-- store/sqlite/list_names.sql: all interned texts, to be kept in memory.
SELECT id, text FROM name ORDER BY id;
