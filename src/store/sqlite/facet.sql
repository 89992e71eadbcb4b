-- store/sqlite/facet.sql: the late index for rare lookups.

-- name: insert_facet
-- One facet of one task; a tag given twice counts once.
INSERT INTO facet (h, k) VALUES (:h, :k) ON CONFLICT DO NOTHING;

-- name: delete_facet
-- It goes with its task.
DELETE FROM facet WHERE h = :h AND k = :k;

-- name: has_facet
-- Is the facet of a task in the index? For the doctor.
SELECT 1 FROM facet WHERE h = :h AND k = :k;

-- name: list_facets
-- The next slice of tasks for the late index.
SELECT k, rest
  FROM body
 WHERE k > :after
 ORDER BY k
 LIMIT :most;

-- name: read_indexed
-- How far the late index reaches in this snapshot.
SELECT indexed_k FROM meta;

-- name: set_indexed
-- The facets of every task up to here are in the index.
UPDATE meta SET indexed_k = :k;

-- name: count_lag
-- How many tasks the late index has not reached.
SELECT count(*) FROM body WHERE k > :indexed_k;
