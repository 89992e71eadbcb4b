-- store/postgres/insert_attempts.sql: attempts after which their task went on. One that is on record stays as it is: a task
-- that was cancelled between two attempts and revived tells its last one again.
INSERT INTO attempt (id, number, outcome, worker, started_ms, finished_ms, error_code, error_message, error_detail)
SELECT *
  FROM unnest($1::uuid[], $2::integer[], $3::integer[], $4::bytea[], $5::bigint[], $6::bigint[], $7::bytea[], $8::bytea[],
              $9::bytea[])
    ON CONFLICT DO NOTHING;
