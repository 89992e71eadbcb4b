-- store/postgres/check_orphans.sql: nothing is left of a task that is gone.
SELECT DISTINCT 'rows', 'a row of ' || place || ' belongs to task ' || id || ', which does not exist'
  FROM (SELECT 'task' AS place, id FROM task
        UNION ALL SELECT 'done', id FROM done
        UNION ALL SELECT 'attempt', id FROM attempt
        UNION ALL SELECT 'log', id FROM log
        UNION ALL SELECT 'tag', id FROM tag) x
 WHERE NOT EXISTS (SELECT 1 FROM body b WHERE b.id = x.id)
 LIMIT 20;
