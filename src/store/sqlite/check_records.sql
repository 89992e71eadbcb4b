-- store/sqlite/check_records.sql: every record is of a kind and has a whole id and a version.
-- Its parent may be gone, and what its body says is its room's business.
SELECT 'records', 'record ' || lower(hex(id)) || ' of kind ' || kind || ' is not one that was ever written'
  FROM record
 WHERE kind < 1 OR length(id) <> 16 OR length(parent) <> 16 OR version < 1 OR due_ms < 0
 LIMIT 20;
