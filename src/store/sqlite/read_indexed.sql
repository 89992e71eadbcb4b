-- store/sqlite/read_indexed.sql: how far the late index reaches in this snapshot.
SELECT indexed_k FROM meta;
