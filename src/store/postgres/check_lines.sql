-- store/postgres/check_lines.sql: of those that wait for a document in one batch, queue and type, at least the best is proposed.
SELECT 'lines', 'task ' || id || ' is first in its line, but is not proposed'
  FROM (SELECT DISTINCT ON (document, coalesce(batch, '00000000-0000-0000-0000-000000000000'), queue, type) id, offered
          FROM task
         WHERE state = 2 AND NOT container AND document IS NOT NULL
         ORDER BY document, coalesce(batch, '00000000-0000-0000-0000-000000000000'), queue, type, -priority, queued_ms, id) first
 WHERE NOT offered
UNION ALL
SELECT 'lines', 'task ' || id || ' waits for no document, but is not proposed'
  FROM task
 WHERE document IS NULL AND NOT offered
 LIMIT 20;
