-- store/sqlite/delete_dependents.sql: nobody depends any longer on a task that goes.
DELETE FROM dependency WHERE on_k = :k;
