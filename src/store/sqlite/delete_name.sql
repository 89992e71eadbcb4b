-- store/sqlite/delete_name.sql: no task has this name any more.
DELETE FROM name WHERE id = :id;
