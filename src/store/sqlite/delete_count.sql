-- store/sqlite/delete_count.sql: the last ended task of a queue is gone.
DELETE FROM ended WHERE queue_id = :queue_id;
