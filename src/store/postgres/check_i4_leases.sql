-- store/postgres/check_i4_leases.sql: I4: RUNNING and holding a lease are one thing, but a container is never claimed.
SELECT 'I4', 'task ' || id || CASE WHEN container AND attempt > 0 THEN ' is a container and was claimed'
                                   WHEN state = 3 AND NOT container THEN ' is RUNNING without a lease'
                                   ELSE ' has a lease without RUNNING' END
  FROM task
 WHERE CASE WHEN state = 3 AND NOT container
            THEN attempt = 0 OR token = 0 OR worker IS NULL OR lease_until_ms <= 0 OR outcome <> 0
            ELSE lease_until_ms <> 0 END
    OR (container AND attempt > 0)
 LIMIT 20;
