-- store/postgres/save_tasks.sql: live tasks change and stay live: one row, one compare-and-set.
-- Says which changes were made. A row that is not as its caller saw it is passed over, and so is one that would start on a
-- document that somebody else holds (G3): `leased` is what this statement was granted. No task and no document comes
-- twice in one call, but for members of one batch. ends: 1 frees its document, 2 all its documents, 3 keeps it.
-- A rate limit's bucket pays for what starts; when, is the time of the change.
WITH c AS MATERIALIZED (
    SELECT *
      FROM unnest($1::uuid[], $2::integer[], $3::integer[], $4::bytea[], $5::boolean[], $6::integer[], $7::uuid[],
                  $8::boolean[], $9::text[], $10::bigint[], $11::integer[], $12::integer[], $13::integer[],
                  $14::integer[], $15::integer[], $16::bigint[], $17::bigint[], $18::bigint[], $19::bigint[],
                  $20::bigint[], $21::boolean[], $22::bigint[], $23::integer[], $24::bytea[], $25::bigint[],
                  $26::bigint[], $27::bigint[], $28::integer[], $29::integer[], $30::bytea[], $31::float8[],
                  $32::bytea[], $33::float8[], $34::float8[], $35::float8[], $36::bytea[], $37::bytea[],
                  $38::bytea[])
          WITH ORDINALITY AS c (id, was_state, was_attempt, document, takes, ends, holder, in_batch, lock, node, state,
                  priority, attempt, retries, max_retries, timeout_ms, scheduled_ms, queued_ms, started_ms,
                  updated_ms, cancel_requested, token, outcome, worker, lease_ms, lease_until_ms,
                  attempt_ended_ms, log_bytes, unmet, cancel_reason, progress, progress_message, cost_estimated,
                  cost_actual, cost_tokens, error_code, error_message, error_detail, n)
), fit AS MATERIALIZED (
    SELECT c.n, c.document, c.holder, c.in_batch, c.node, c.lock, c.updated_ms
      FROM c
      JOIN task t ON t.id = c.id
     WHERE c.takes AND t.state = c.was_state AND t.attempt = c.was_attempt
     ORDER BY t.id
       FOR UPDATE OF t
), leased AS (
    INSERT INTO doc_lease AS l (document, holder, batch, node, lock, since_ms)
    SELECT DISTINCT ON (document) document, holder, in_batch, node, lock, updated_ms
      FROM fit
     ORDER BY document
        ON CONFLICT (document) DO UPDATE
       SET kept = false, node = excluded.node, lock = excluded.lock
     WHERE l.holder = excluded.holder
    RETURNING document
), changed AS (
    UPDATE task t
       SET state = c.state, priority = c.priority, attempt = c.attempt, retries = c.retries, max_retries = c.max_retries,
           timeout_ms = c.timeout_ms, scheduled_ms = c.scheduled_ms, queued_ms = c.queued_ms,
           started_ms = c.started_ms, updated_ms = c.updated_ms, cancel_requested = c.cancel_requested, token = c.token,
           outcome = c.outcome, worker = c.worker, lease_ms = c.lease_ms, lease_until_ms = c.lease_until_ms,
           attempt_ended_ms = c.attempt_ended_ms, log_bytes = c.log_bytes, unmet = c.unmet,
           cancel_reason = c.cancel_reason, progress = c.progress, progress_message = c.progress_message,
           cost_estimated = c.cost_estimated, cost_actual = c.cost_actual, cost_tokens = c.cost_tokens, error_code = c.error_code,
           error_message = c.error_message, error_detail = c.error_detail, offered = true
      FROM c
     WHERE t.id = c.id AND t.state = c.was_state AND t.attempt = c.was_attempt
       AND (NOT c.takes OR c.document IN (SELECT document FROM leased))
    RETURNING c.n
), freed AS (
    DELETE FROM doc_lease l
     USING c JOIN changed ON changed.n = c.n
     WHERE c.ends = 1 AND l.document = c.document AND l.holder = c.id
), freed_all AS (
    DELETE FROM doc_lease l
     USING c JOIN changed ON changed.n = c.n
     WHERE c.ends = 2 AND l.holder = c.id AND l.batch
), kept AS (
    UPDATE doc_lease l
       SET kept = true, node = c.node
      FROM c JOIN changed ON changed.n = c.n
     WHERE c.ends = 3 AND l.document = c.document AND l.holder = c.id
), paid AS (
    UPDATE queue q
       SET tokens = least(s.burst, CASE WHEN q.tokens_ms = 0 THEN s.burst
                                        ELSE q.tokens + greatest(0, s.at_ms - q.tokens_ms) / 1000.0 * q.rate_per_second
                                   END) - s.starts,
           tokens_ms = greatest(q.tokens_ms, s.at_ms)
      FROM (SELECT name, CASE WHEN burst > 0 THEN burst ELSE greatest(1, ceil(rate_per_second)) END AS burst,
                   count(*) AS starts, max(c.updated_ms) AS at_ms
              FROM c
              JOIN changed ON changed.n = c.n
              JOIN task t ON t.id = c.id
              JOIN queue ON queue.name = t.queue AND rate_per_second > 0
             WHERE c.state = 3 AND c.was_state <> 3 AND NOT t.container
             GROUP BY name) s
     WHERE q.name = s.name
)
SELECT n FROM changed;
