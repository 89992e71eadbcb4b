-- store/sqlite/transaction.sql: how a transaction begins and ends, and what a store knows about itself.

-- name: begin
-- One transaction for a whole batch. IMMEDIATE, so that it can never fail halfway for a lock.
BEGIN IMMEDIATE;

-- name: begin_read
-- One snapshot for the several statements of a list or a detail view.
BEGIN;

-- name: commit
-- On disk when it returns.
COMMIT;

-- name: rollback
-- Nothing of it happened.
ROLLBACK;

-- name: read_meta
-- What a store must know about itself when it is opened.
-- A key may be the highest ever and already deleted; ids must not be used twice.
SELECT epoch, max(last_k, coalesce((SELECT max(k) FROM body), 0)), indexed_k,
       EXISTS (SELECT 1 FROM dependency)
  FROM meta;

-- name: grow_epoch
-- Tokens of different openings never meet.
UPDATE meta SET epoch = epoch + 1;
