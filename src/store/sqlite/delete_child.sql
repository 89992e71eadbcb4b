-- store/sqlite/delete_child.sql: it goes with its task.
DELETE FROM child WHERE parent_k = :parent_k AND k = :k;
