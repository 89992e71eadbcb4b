-- store/postgres/insert_tasks.sql: new tasks, each its order and where it stands.
-- The arrays are rows taken apart, column by column: order, standing, end.
WITH c AS MATERIALIZED (
    SELECT unnest($1::uuid[]) AS id, unnest($2::text[]) AS type, unnest($3::text[]) AS queue,
           unnest($4::bigint[]) AS created_ms, unnest($5::bigint[]) AS expires_ms,
           unnest($6::bigint[]) AS backoff_base_ms, unnest($7::bigint[]) AS backoff_max_ms,
           unnest($8::float8[]) AS backoff_factor, unnest($9::float8[]) AS backoff_jitter,
           unnest($10::boolean[]) AS payload_raw, unnest($11::boolean[]) AS container,
           unnest($12::boolean[]) AS continues, unnest($13::boolean[]) AS runs_anyway,
           unnest($14::bytea[]) AS document, unnest($15::bytea[]) AS key, unnest($16::bytea[]) AS external_id,
           unnest($17::bytea[]) AS tags, unnest($18::uuid[]) AS parent, unnest($19::uuid[]) AS team,
           unnest($20::uuid[]) AS schedule, unnest($21::uuid[]) AS batch, unnest($22::bytea[]) AS metadata,
           unnest($23::bytea[]) AS payload, unnest($24::integer[]) AS state, unnest($25::integer[]) AS priority,
           unnest($26::integer[]) AS attempt, unnest($27::integer[]) AS retries,
           unnest($28::integer[]) AS max_retries, unnest($29::bigint[]) AS timeout_ms,
           unnest($30::bigint[]) AS scheduled_ms, unnest($31::bigint[]) AS queued_ms,
           unnest($32::bigint[]) AS started_ms, unnest($33::bigint[]) AS updated_ms,
           unnest($34::boolean[]) AS cancel_requested, unnest($35::bigint[]) AS token,
           unnest($36::integer[]) AS outcome, unnest($37::bytea[]) AS worker, unnest($38::bigint[]) AS lease_ms,
           unnest($39::bigint[]) AS lease_until_ms, unnest($40::bigint[]) AS attempt_ended_ms,
           unnest($41::integer[]) AS log_bytes, unnest($42::integer[]) AS unmet,
           unnest($43::bytea[]) AS cancel_reason, unnest($44::float8[]) AS progress,
           unnest($45::bytea[]) AS progress_message, unnest($46::float8[]) AS cost_estimated,
           unnest($47::float8[]) AS cost_actual, unnest($48::float8[]) AS cost_tokens,
           unnest($49::bytea[]) AS error_code, unnest($50::bytea[]) AS error_message,
           unnest($51::bytea[]) AS error_detail, unnest($52::bigint[]) AS finished_ms,
           unnest($53::bigint[]) AS cancelled_ms, unnest($54::bytea[]) AS result
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
