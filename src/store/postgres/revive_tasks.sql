-- store/postgres/revive_tasks.sql: finished tasks live again: they move back, each by one compare-and-set.
-- Says which did. What the hot row repeats of the order comes from the body. As in save_tasks.sql, a container that runs at
-- once needs its document. `ends` is 0: nothing that has ended holds one.
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
      JOIN done t ON t.id = c.id
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
    DELETE FROM done t
     USING c
     WHERE t.id = c.id AND t.state = c.was_state AND t.attempt = c.was_attempt
       AND (NOT c.takes OR c.document IN (SELECT document FROM leased))
    RETURNING c.n
), live AS (
    INSERT INTO task (id, type, queue, document, batch, container, expires_ms, state, priority, attempt, retries,
                      max_retries, timeout_ms, scheduled_ms, queued_ms, started_ms, updated_ms, cancel_requested,
                      token, outcome, worker, lease_ms, lease_until_ms, attempt_ended_ms, log_bytes, unmet,
                      cancel_reason, progress, progress_message, cost_estimated, cost_actual, cost_tokens,
                      error_code, error_message, error_detail)
    SELECT b.id, b.type, b.queue, b.document, b.batch, b.container, b.expires_ms, c.state, c.priority, c.attempt,
           c.retries, c.max_retries, c.timeout_ms, c.scheduled_ms, c.queued_ms, c.started_ms, c.updated_ms,
           c.cancel_requested, c.token, c.outcome, c.worker, c.lease_ms, c.lease_until_ms, c.attempt_ended_ms,
           c.log_bytes, c.unmet, c.cancel_reason, c.progress, c.progress_message, c.cost_estimated, c.cost_actual,
           c.cost_tokens, c.error_code, c.error_message, c.error_detail
      FROM c
      JOIN changed ON changed.n = c.n
      JOIN body b ON b.id = c.id
)
SELECT n FROM changed;
