-- store/sqlite/check_relations.sql: both ends of every relation exist and agree; only containers have children.
SELECT 'relations', 'task ' || task_id(b.k, b.lo) || ' is the child of none'
  FROM body b LEFT JOIN body p ON p.k = b.parent_hi AND p.lo = b.parent_lo
 WHERE b.parent_hi IS NOT NULL AND p.k IS NULL
UNION ALL
SELECT 'relations', 'task ' || task_id(p.k, p.lo) || ' has children, but is no container'
  FROM child c JOIN body p ON p.k = c.parent_k
 WHERE p.container = 0
 GROUP BY p.k
UNION ALL
SELECT 'relations', 'task ' || task_id(b.k, b.lo) || ' is missing among the children of its parent'
  FROM body b
 WHERE b.parent_hi IS NOT NULL AND NOT EXISTS (SELECT 1 FROM child c WHERE c.parent_k = b.parent_hi AND c.k = b.k)
UNION ALL
SELECT 'relations', 'a row of child has the key ' || c.k || ', which is no child of ' || c.parent_k
  FROM child c LEFT JOIN body b ON b.k = c.k
 WHERE b.parent_hi IS NOT c.parent_k
UNION ALL
SELECT 'relations', 'the task with key ' || x.k || ' depends on the task with key ' || x.on_k
                    || ', and one of them is missing'
  FROM dependency x
 WHERE x.k NOT IN (SELECT k FROM body) OR x.on_k NOT IN (SELECT k FROM body)
 LIMIT 20;
