-- store/postgres/revise_tasks.sql: finished tasks that change and stay finished, each by one compare-and-set.
-- Says which did. Takes what finish_tasks.sql takes.
WITH c AS MATERIALIZED (
    SELECT unnest($1::uuid[]) AS id, unnest($2::integer[]) AS was_state, unnest($3::integer[]) AS was_attempt,
           unnest($4::bytea[]) AS document, unnest($5::integer[]) AS ends, unnest($6::bigint[]) AS node,
           unnest($7::integer[]) AS state, unnest($8::integer[]) AS priority, unnest($9::integer[]) AS attempt,
           unnest($10::integer[]) AS retries, unnest($11::integer[]) AS max_retries,
           unnest($12::bigint[]) AS timeout_ms, unnest($13::bigint[]) AS scheduled_ms,
           unnest($14::bigint[]) AS queued_ms, unnest($15::bigint[]) AS started_ms,
           unnest($16::bigint[]) AS updated_ms, unnest($17::boolean[]) AS cancel_requested,
           unnest($18::bigint[]) AS token, unnest($19::integer[]) AS outcome, unnest($20::bytea[]) AS worker,
           unnest($21::bigint[]) AS lease_ms, unnest($22::bigint[]) AS lease_until_ms,
           unnest($23::bigint[]) AS attempt_ended_ms, unnest($24::integer[]) AS log_bytes,
           unnest($25::integer[]) AS unmet, unnest($26::bytea[]) AS cancel_reason,
           unnest($27::float8[]) AS progress, unnest($28::bytea[]) AS progress_message,
           unnest($29::float8[]) AS cost_estimated, unnest($30::float8[]) AS cost_actual,
           unnest($31::float8[]) AS cost_tokens, unnest($32::bytea[]) AS error_code,
           unnest($33::bytea[]) AS error_message, unnest($34::bytea[]) AS error_detail,
           unnest($35::bigint[]) AS finished_ms, unnest($36::bigint[]) AS cancelled_ms,
           unnest($37::bytea[]) AS result, generate_subscripts($1, 1) AS n
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
 WHERE t.id = ANY ($1) AND t.id = c.id AND t.state = c.was_state AND t.attempt = c.was_attempt AND c.node IS NOT NULL
RETURNING c.n;
