-- store/postgres/insert_tasks.sql: new tasks, each its order and where it stands.
-- The arrays are rows taken apart, column by column: order, standing, end.
WITH c AS MATERIALIZED (
    SELECT *
      FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
                  $8::float8[], $9::float8[], $10::boolean[], $11::boolean[], $12::boolean[], $13::boolean[],
                  $14::bytea[], $15::bytea[], $16::bytea[], $17::bytea[], $18::uuid[], $19::uuid[], $20::uuid[],
                  $21::uuid[], $22::bytea[], $23::bytea[], $24::integer[], $25::integer[], $26::integer[],
                  $27::integer[], $28::integer[], $29::bigint[], $30::bigint[], $31::bigint[], $32::bigint[],
                  $33::bigint[], $34::boolean[], $35::bigint[], $36::integer[], $37::bytea[], $38::bigint[],
                  $39::bigint[], $40::bigint[], $41::integer[], $42::integer[], $43::bytea[], $44::float8[],
                  $45::bytea[], $46::float8[], $47::float8[], $48::float8[], $49::bytea[], $50::bytea[],
                  $51::bytea[], $52::bigint[], $53::bigint[], $54::bytea[])
          AS c (id, type, queue, created_ms, expires_ms, backoff_base_ms, backoff_max_ms, backoff_factor,
                  backoff_jitter, payload_raw, container, continues, runs_anyway, document, key, external_id,
                  tags, parent, team, schedule, batch, metadata, payload, state, priority, attempt, retries,
                  max_retries, timeout_ms, scheduled_ms, queued_ms, started_ms, updated_ms, cancel_requested,
                  token, outcome, worker, lease_ms, lease_until_ms, attempt_ended_ms, log_bytes, unmet,
                  cancel_reason, progress, progress_message, cost_estimated, cost_actual, cost_tokens, error_code,
                  error_message, error_detail, finished_ms, cancelled_ms, result)
), bodies AS (
    INSERT INTO body (id, type, queue, created_ms, expires_ms, backoff_base_ms, backoff_max_ms, backoff_factor,
                      backoff_jitter, payload_raw, container, continues, runs_anyway, document, key, external_id,
                      tags, parent, team, schedule, batch, metadata, payload)
    SELECT id, type, queue, created_ms, expires_ms, backoff_base_ms, backoff_max_ms, backoff_factor,
           backoff_jitter, payload_raw, container, continues, runs_anyway, document, key, external_id, tags,
           parent, team, schedule, batch, metadata, payload
      FROM c
), ended AS (
    INSERT INTO done (id, state, priority, attempt, retries, max_retries, timeout_ms, scheduled_ms, queued_ms,
                      started_ms, updated_ms, cancel_requested, token, outcome, worker, lease_ms, lease_until_ms,
                      attempt_ended_ms, log_bytes, unmet, cancel_reason, progress, progress_message,
                      cost_estimated, cost_actual, cost_tokens, error_code, error_message, error_detail,
                      finished_ms, cancelled_ms, result)
    SELECT id, state, priority, attempt, retries, max_retries, timeout_ms, scheduled_ms, queued_ms, started_ms,
           updated_ms, cancel_requested, token, outcome, worker, lease_ms, lease_until_ms, attempt_ended_ms,
           log_bytes, unmet, cancel_reason, progress, progress_message, cost_estimated, cost_actual, cost_tokens,
           error_code, error_message, error_detail, finished_ms, cancelled_ms, result
      FROM c
     WHERE state >= 5
)
INSERT INTO task (id, type, queue, document, batch, container, expires_ms, state, priority, attempt, retries,
                  max_retries, timeout_ms, scheduled_ms, queued_ms, started_ms, updated_ms, cancel_requested,
                  token, outcome, worker, lease_ms, lease_until_ms, attempt_ended_ms, log_bytes, unmet,
                  cancel_reason, progress, progress_message, cost_estimated, cost_actual, cost_tokens, error_code,
                  error_message, error_detail)
SELECT id, type, queue, document, batch, container, expires_ms, state, priority, attempt, retries, max_retries,
       timeout_ms, scheduled_ms, queued_ms, started_ms, updated_ms, cancel_requested, token, outcome, worker,
       lease_ms, lease_until_ms, attempt_ended_ms, log_bytes, unmet, cancel_reason, progress, progress_message,
       cost_estimated, cost_actual, cost_tokens, error_code, error_message, error_detail
  FROM c
 WHERE state < 5;
