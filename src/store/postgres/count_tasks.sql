-- store/postgres/count_tasks.sql: what a transaction changed in the number of tasks, once for each queue it touched.
INSERT INTO counter AS k (node, queue, scheduled, waiting, queued, running, retrying, completed, failed, cancelled,
                          timeout)
SELECT *
  FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
              $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[])
    ON CONFLICT (node, queue) DO UPDATE
   SET scheduled = k.scheduled + excluded.scheduled, waiting = k.waiting + excluded.waiting,
       queued = k.queued + excluded.queued, running = k.running + excluded.running,
       retrying = k.retrying + excluded.retrying, completed = k.completed + excluded.completed,
       failed = k.failed + excluded.failed, cancelled = k.cancelled + excluded.cancelled,
       timeout = k.timeout + excluded.timeout;
