-- store/sqlite/check_keys.sql: a key belongs to the task that was created with it, as long as that is there.
SELECT 'keys', 'task ' || task_id(b.k, b.lo) || ' does not own its idempotency key'
  FROM body b LEFT JOIN key ON key.key = b.key
 WHERE b.key IS NOT NULL AND key.k IS NOT b.k
UNION ALL
SELECT 'keys', 'task ' || task_id(b.k, b.lo) || ' owns a key that it was not created with'
  FROM key JOIN body b ON b.k = key.k
 WHERE b.key IS NOT key.key
 LIMIT 20;
