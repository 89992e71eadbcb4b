-- store/sqlite/check_i4_leases.sql: I4: RUNNING and holding a lease are one thing. Attempt 0 is a container.
SELECT 'I4', 'task ' || task_id(k, lo) || iif(state = 3, ' is RUNNING without a lease', ' has a lease without RUNNING')
  FROM task
 WHERE CASE WHEN state = 3 AND attempt > 0
            THEN token = 0 OR worker IS NULL OR lease_until_ms <= 0 OR outcome <> 0
            ELSE lease_until_ms <> 0 END
 LIMIT 20;
