-- store/postgres/select_rare.sql: what a list or a bulk command selects from tasks that did not end well, newest first.
SELECT d.id
  FROM done d
  JOIN body b ON b.id = d.id
 WHERE ($1::uuid IS NULL OR d.id < $1)
   AND ($2::uuid IS NULL OR d.id >= $2)
   AND d.state > 5
   AND ($3::integer >> d.state) & 1 = 1
   AND ($4::integer = 0 OR d.priority = $4)
   AND ($5::text IS NULL OR b.type = $5)
   AND ($6::text IS NULL OR b.queue = $6)
   AND ($7::bytea IS NULL OR b.document = $7)
   AND ($8::bytea IS NULL OR EXISTS (SELECT 1 FROM tag g WHERE g.tag = $8 AND g.id = b.id))
   AND ($9::bytea IS NULL OR b.external_id = $9)
   AND ($10::uuid IS NULL OR b.parent = $10)
   AND ($11::uuid IS NULL OR b.team = $11)
   AND ($12::uuid IS NULL OR b.schedule = $12)
   AND ($13::bigint = 0 OR b.created_ms > $13)
   AND ($14::bigint = 0 OR b.created_ms < $14)
   AND ($16::bytea IS NULL OR b.schedule IS NULL
        OR EXISTS (SELECT 1 FROM record r WHERE r.kind = 1 AND r.id = b.schedule AND r.owner = $16))
 ORDER BY d.id DESC
 LIMIT $15;
