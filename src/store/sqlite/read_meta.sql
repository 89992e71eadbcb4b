-- store/sqlite/read_meta.sql: what a store must know about itself when it is opened.
-- A key may be the highest ever and already deleted; ids must not be used twice.
SELECT epoch, max(last_k, coalesce((SELECT max(k) FROM body), 0)), indexed_k,
       EXISTS (SELECT 1 FROM dependency)
  FROM meta;
