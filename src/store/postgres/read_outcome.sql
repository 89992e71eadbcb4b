-- store/postgres/read_outcome.sql: the number of the last transaction of store $1 that was committed.
-- No row: one that raises it is still under way, somewhere in the server, and may yet be committed.
SELECT number FROM mark WHERE node = $1 FOR UPDATE SKIP LOCKED;
