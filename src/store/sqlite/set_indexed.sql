-- store/sqlite/set_indexed.sql: the facets of every task up to here are in the index.
UPDATE meta SET indexed_k = :k;
