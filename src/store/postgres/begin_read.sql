-- store/postgres/begin_read.sql: one snapshot for the several statements of a list or a detail view.
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
