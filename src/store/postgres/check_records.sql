-- store/postgres/check_records.sql: every record is of a kind and has a version.
-- Its parent may be gone, and what its body says is its room's business.
SELECT 'records', 'record ' || id || ' of kind ' || kind || ' is not one that was ever written'
  FROM record
 WHERE kind < 1 OR version < 1 OR due_ms < 0
 LIMIT 20;
