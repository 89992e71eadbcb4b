-- store/sqlite/list_family_newest.sql: list_family_oldest.sql backwards.
SELECT id, parent, owner, key, due_ms, at_ms, mark, version, body
  FROM record INDEXED BY record_parent
 WHERE kind = :kind AND parent = :parent AND (:owner IS NULL OR owner = :owner)
   AND id > :after AND id < :before AND (:marks = 0 OR :marks & (1 << mark))
   AND at_ms >= :from_ms AND at_ms < :to_ms
 ORDER BY id DESC
 LIMIT :limit;
