-- store/sqlite/record.sql: what is kept besides tasks.

-- name: load_record
-- One record.
SELECT id, @record
  FROM record
 WHERE kind = :kind AND id = :id;

-- name: find_record
-- Which record has a key.
SELECT id FROM record WHERE kind = :kind AND key = :key;

-- name: find_owned
-- Whether a record is there and somebody's.
SELECT 1
  FROM record
 WHERE kind = :kind AND id = :id AND owner = :owner;

-- name: insert_record
-- A new record, unless its id or key is taken.
INSERT INTO record (kind, id, @record)
VALUES (:kind, :id, @record(:, version = :version + 1))
ON CONFLICT DO NOTHING;

-- name: update_record
-- A record anew, unless its version moved or another record has the key.
UPDATE OR IGNORE record
   SET @set_record(:, version = :version + 1)
 WHERE kind = :kind AND id = :id AND version = :version;

-- name: touch_record
-- A record anew whose parent, owner and key stay as they are.
-- Nearly all changes are such ones, and a column that is not named leaves its indexes alone.
UPDATE record
   SET due_ms = :due_ms, at_ms = :at_ms, mark = :mark, version = :version + 1, body = :body
 WHERE kind = :kind AND id = :id AND version = :version
   AND parent IS :parent AND owner IS :owner AND key IS :key;

-- name: delete_record
-- One record goes.
DELETE FROM record WHERE kind = :kind AND id = :id;

-- name: clear_records
-- All records of a kind that belong to one parent go.
DELETE FROM record WHERE kind = :kind AND parent = :parent;

-- name: list_due
-- Records to which something happens by itself, the first one first.
SELECT id, @record, due_ms
  FROM record INDEXED BY record_due
 WHERE kind = :kind AND due_ms > 0
 ORDER BY due_ms, id
 LIMIT :limit;

-- fragment: list(along, parents, owners)
-- Records by whatever is asked, along one index: every list answers every filter, and which one is taken changes only how
-- long it takes (record.c).
SELECT id, @record
  FROM record INDEXED BY along
 WHERE kind = :kind AND parents AND owners
   AND id > :after AND id < :before AND (:marks = 0 OR :marks & (1 << mark))
   AND at_ms >= :from_ms AND at_ms < :to_ms

-- name: list_family_oldest
-- Records that belong to one parent.
@list(record_parent, parent = :parent, (:owner IS NULL OR owner = :owner)) ORDER BY id LIMIT :limit;

-- name: list_family_newest
-- The newest first.
@list(record_parent, parent = :parent, (:owner IS NULL OR owner = :owner)) ORDER BY id DESC LIMIT :limit;

-- name: list_owned_oldest
-- Records of one owner.
@list(record_owner, (:parent IS NULL OR parent = :parent), owner = :owner) ORDER BY id LIMIT :limit;

-- name: list_owned_newest
-- The newest first.
@list(record_owner, (:parent IS NULL OR parent = :parent), owner = :owner) ORDER BY id DESC LIMIT :limit;

-- name: list_records_oldest
-- Records of a kind, whatever else is asked.
@list(record_id, (:parent IS NULL OR parent = :parent), (:owner IS NULL OR owner = :owner)) ORDER BY id LIMIT :limit;

-- name: list_records_newest
-- The newest first.
@list(record_id, (:parent IS NULL OR parent = :parent), (:owner IS NULL OR owner = :owner)) ORDER BY id DESC LIMIT :limit;

-- name: count_records
-- How many records of a kind have one of these marks.
SELECT count(*)
  FROM record INDEXED BY record_id
 WHERE kind = :kind AND (:marks = 0 OR :marks & (1 << mark));
