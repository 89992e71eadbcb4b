-- store/sqlite/find_owned.sql: whether a record is there and somebody's.
SELECT 1
  FROM record
 WHERE kind = :kind AND id = :id AND owner = :owner;
