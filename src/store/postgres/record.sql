-- store/postgres/record.sql: what is kept besides tasks.

-- name: load_records
-- Records by their names; whoever loads to change locks them too (record.c).
SELECT k.n, r.id, @record(r.)
  FROM @table(k: kind integer, id uuid, n)
  JOIN record r ON r.kind = k.kind AND r.id = k.id AND r.kind = ANY ($kind) AND r.id = ANY ($id)
 ORDER BY r.kind, r.id

-- name: find_records
-- Which records have these keys.
SELECT k.n, r.id
  FROM @table(k: kind integer, key bytea, n)
  JOIN record r ON r.kind = k.kind AND r.key = k.key AND r.key IS NOT NULL
   AND r.kind = ANY ($kind) AND r.key = ANY ($key);

-- name: insert_records
-- New records, but for those whose id or key is taken. Says which were written.
-- The kind and id of each come but once in a call, and so do keys.
WITH c AS MATERIALIZED (
    SELECT *
      FROM @table(c: kind integer, id uuid, @record, n)
), written AS (
    INSERT INTO record (kind, id, @record)
    SELECT kind, id, @record(c., version = c.version + 1) FROM c ORDER BY kind, id
    ON CONFLICT DO NOTHING
    RETURNING kind, id
)
SELECT c.n FROM c JOIN written w ON w.kind = c.kind AND w.id = c.id;

-- name: update_records
-- Records anew, but for those whose version moved or whose new key is taken. Says which.
-- A key that another node takes at this very moment ends the transaction, and its caller begins again.
UPDATE record r
   SET @set_record(c., version = c.version + 1)
  FROM @table(c: kind integer, id uuid, @record, n)
 WHERE r.kind = ANY ($kind) AND r.id = ANY ($id) AND r.kind = c.kind AND r.id = c.id AND r.version = c.version
   AND (c.key IS NULL OR c.key = r.key
        OR NOT EXISTS (SELECT 1 FROM record o WHERE o.kind = c.kind AND o.key = c.key AND o.id <> c.id))
RETURNING c.n;

-- name: delete_records
-- Records go by their names.
DELETE FROM record r
 USING @table(c: kind integer, id uuid)
 WHERE r.kind = c.kind AND r.id = c.id AND r.kind = ANY ($kind) AND r.id = ANY ($id);

-- name: clear_records
-- All records of a kind that belong to one parent go.
DELETE FROM record WHERE kind = $kind AND parent = $parent;

-- name: list_due
-- Records to which something happens by itself, earliest first.
-- Those that another node is working on are passed over, and come back when it is done with them.
SELECT id, @record
  FROM record
 WHERE kind = $kind AND due_ms > 0 AND due_ms <= $until_ms
 ORDER BY due_ms, id
 LIMIT $most
   FOR UPDATE SKIP LOCKED;

-- name: next_due
-- When the first record falls due that is not among those listed by list_due.
-- What another node is working on is that node's business here, too: else we would come back for it at once.
SELECT due_ms
  FROM record
 WHERE kind = $kind AND due_ms > 0 AND id <> ALL ($listed::uuid[])
 ORDER BY due_ms, id
 LIMIT 1
   FOR KEY SHARE SKIP LOCKED;

-- fragment: list
-- Records of a kind by whatever is asked. NULL and 0 mean any.
SELECT id, @record
  FROM record
 WHERE kind = $kind AND ($parent::uuid IS NULL OR parent = $parent) AND ($owner::bytea IS NULL OR owner = $owner)
   AND ($after::uuid IS NULL OR id > $after) AND ($before::uuid IS NULL OR id < $before)
   AND ($marks::bigint = 0 OR (mark BETWEEN 0 AND 31 AND ($marks >> mark) & 1 = 1))
   AND ($from_ms::bigint = 0 AND $to_ms::bigint = 0 OR at_ms >= greatest($from_ms, 1) AND ($to_ms = 0 OR at_ms < $to_ms))

-- name: list_records_oldest
-- The oldest first.
@list ORDER BY id LIMIT $most;

-- name: list_records_newest
-- The newest first.
@list ORDER BY id DESC LIMIT $most;

-- name: count_records
-- How many records of a kind have one of these marks.
SELECT count(*)
  FROM record
 WHERE kind = $kind AND ($marks::bigint = 0 OR (mark BETWEEN 0 AND 31 AND ($marks >> mark) & 1 = 1));
