-- store/sqlite/list_dependencies.sql: what a task depends on, in order of creation.
SELECT b.k, b.lo
  FROM body me JOIN dependency x ON x.k = me.k JOIN body b ON b.k = x.on_k
 WHERE me.k = :k AND me.lo = :lo
 ORDER BY x.on_k;
