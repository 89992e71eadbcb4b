-- store/postgres/revise_tasks.sql: finished tasks that change and stay finished, each by one compare-and-set.
-- Says which did. Takes what finish_tasks.sql takes.
WITH c AS MATERIALIZED (
    SELECT *
      FROM unnest($1::uuid[], $2::integer[], $3::integer[], $4::bytea[], $5::integer[], $6::bigint[],
                  $7::integer[], $8::integer[], $9::integer[], $10::integer[], $11::integer[], $12::bigint[],
                  $13::bigint[], $14::bigint[], $15::bigint[], $16::bigint[], $17::boolean[], $18::bigint[],
                  $19::integer[], $20::bytea[], $21::bigint[], $22::bigint[], $23::bigint[], $24::integer[],
                  $25::integer[], $26::bytea[], $27::float8[], $28::bytea[], $29::float8[], $30::float8[],
                  $31::float8[], $32::bytea[], $33::bytea[], $34::bytea[], $35::bigint[], $36::bigint[],
                  $37::bytea[])
          WITH ORDINALITY AS c (id, was_state, was_attempt, document, ends, node, state, priority, attempt, retries,
                  max_retries, timeout_ms, scheduled_ms, queued_ms, started_ms, updated_ms, cancel_requested,
                  token, outcome, worker, lease_ms, lease_until_ms, attempt_ended_ms, log_bytes, unmet,
                  cancel_reason, progress, progress_message, cost_estimated, cost_actual, cost_tokens, error_code,
                  error_message, error_detail, finished_ms, cancelled_ms, result, n)
)
UPDATE done t
   SET state = c.state, priority = c.priority, attempt = c.attempt, retries = c.retries, max_retries = c.max_retries,
       timeout_ms = c.timeout_ms, scheduled_ms = c.scheduled_ms, queued_ms = c.queued_ms,
           started_ms = c.started_ms, updated_ms = c.updated_ms, cancel_requested = c.cancel_requested, token = c.token,
           outcome = c.outcome, worker = c.worker, lease_ms = c.lease_ms, lease_until_ms = c.lease_until_ms,
           attempt_ended_ms = c.attempt_ended_ms, log_bytes = c.log_bytes, unmet = c.unmet, cancel_reason = c.cancel_reason,
           progress = c.progress, progress_message = c.progress_message, cost_estimated = c.cost_estimated,
           cost_actual = c.cost_actual, cost_tokens = c.cost_tokens, error_code = c.error_code, error_message = c.error_message,
       error_detail = c.error_detail, finished_ms = c.finished_ms, cancelled_ms = c.cancelled_ms,
           result = c.result
  FROM c
 WHERE t.id = c.id AND t.state = c.was_state AND t.attempt = c.was_attempt AND c.node IS NOT NULL
RETURNING c.n;
