-- store/sqlite/forget_done.sql: a finished task is removed for good.
DELETE FROM done WHERE k = :k;
