-- store/postgres/read_self.sql: the server process that answers, to know whether the session is ours alone.
SELECT pg_backend_pid();
