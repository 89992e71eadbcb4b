-- store/sqlite/insert_child.sql: a new task has a parent.
INSERT INTO child (parent_k, k) VALUES (:parent_k, :k);
