-- store/sqlite/forget_body.sql: a finished task is removed for good.
DELETE FROM body WHERE k = :k;
