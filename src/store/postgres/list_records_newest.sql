-- store/postgres/list_records_newest.sql: records of a kind by whatever is asked, newest first. NULL and 0 mean any.
SELECT id, parent, owner, key, due_ms, at_ms, mark, version, body
  FROM record
 WHERE kind = $1 AND ($2::uuid IS NULL OR parent = $2) AND ($3::bytea IS NULL OR owner = $3)
   AND ($4::uuid IS NULL OR id > $4) AND ($5::uuid IS NULL OR id < $5)
   AND ($6::bigint = 0 OR (mark BETWEEN 0 AND 31 AND ($6 >> mark) & 1 = 1))
   AND ($7::bigint = 0 AND $8::bigint = 0 OR at_ms >= greatest($7, 1) AND ($8 = 0 OR at_ms < $8))
 ORDER BY id DESC
 LIMIT $9;
