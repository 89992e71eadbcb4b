-- store/postgres/begin.sql: READ COMMITTED, whatever the database has as its default: rows that were loaded are locked.
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
