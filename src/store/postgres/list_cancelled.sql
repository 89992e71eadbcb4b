-- store/postgres/list_cancelled.sql: attempts by workers whose names end in $1 that are to be cancelled.
SELECT id
  FROM task
 WHERE state = 3 AND cancel_requested
   AND octet_length(worker) >= octet_length($1::bytea)
   AND substring(worker FROM octet_length(worker) - octet_length($1::bytea) + 1) = $1
 ORDER BY id;
