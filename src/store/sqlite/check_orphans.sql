-- store/sqlite/check_orphans.sql: nothing is left of a task that is gone.
SELECT 'rows', 'a row of ' || place || ' has the key ' || k || ', but there is no such task'
  FROM (SELECT 'task' AS place, k FROM task WHERE k NOT IN (SELECT k FROM body)
        UNION ALL SELECT 'done', k FROM done WHERE k NOT IN (SELECT k FROM body)
        UNION ALL SELECT 'attempt', k FROM attempt WHERE k NOT IN (SELECT k FROM body)
        UNION ALL SELECT 'log', k FROM log WHERE k NOT IN (SELECT k FROM body)
        UNION ALL SELECT 'key', k FROM key WHERE k NOT IN (SELECT k FROM body)
        UNION ALL SELECT 'facet', k FROM facet WHERE k NOT IN (SELECT k FROM body))
 LIMIT 20;
