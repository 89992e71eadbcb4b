-- store/postgres/check_relations.sql: both ends of every relation exist and agree; only containers have children.
(SELECT 'relations', 'task ' || b.id || ' is the child of none'
   FROM body b
  WHERE b.parent IS NOT NULL AND NOT EXISTS (SELECT 1 FROM body p WHERE p.id = b.parent)
  LIMIT 20)
UNION ALL
(SELECT 'relations', 'task ' || p.id || ' has children, but is no container'
   FROM body p
  WHERE NOT p.container AND EXISTS (SELECT 1 FROM body b WHERE b.parent = p.id)
  LIMIT 20)
UNION ALL
(SELECT 'relations', 'task ' || x.id || ' depends on task ' || x."on" || ', and one of them is missing'
   FROM dependency x
  WHERE NOT EXISTS (SELECT 1 FROM body b WHERE b.id = x.id) OR NOT EXISTS (SELECT 1 FROM body b WHERE b.id = x."on")
  LIMIT 20);
