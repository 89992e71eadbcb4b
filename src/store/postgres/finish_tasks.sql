-- store/postgres/finish_tasks.sql: tasks that end move to the history, each by one compare-and-set.
-- Says which did. Takes what finish_on_documents.sql takes.
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
), changed AS (
    DELETE FROM task t
     USING c
     WHERE t.id = ANY ($1) AND t.id = c.id AND t.state = c.was_state AND t.attempt = c.was_attempt
    RETURNING c.*
), ended AS (
    INSERT INTO done (id, state, priority, attempt, retries, max_retries, timeout_ms, scheduled_ms, queued_ms,
                      started_ms, updated_ms, cancel_requested, token, outcome, worker, lease_ms, lease_until_ms,
                      attempt_ended_ms, log_bytes, unmet, cancel_reason, progress, progress_message,
                      cost_estimated, cost_actual, cost_tokens, error_code, error_message, error_detail,
                      finished_ms, cancelled_ms, result)
    SELECT c.id, c.state, c.priority, c.attempt, c.retries, c.max_retries, c.timeout_ms, c.scheduled_ms,
           c.queued_ms, c.started_ms, c.updated_ms, c.cancel_requested, c.token, c.outcome, c.worker, c.lease_ms,
           c.lease_until_ms, c.attempt_ended_ms, c.log_bytes, c.unmet, c.cancel_reason, c.progress,
           c.progress_message, c.cost_estimated, c.cost_actual, c.cost_tokens, c.error_code, c.error_message,
           c.error_detail, c.finished_ms, c.cancelled_ms, c.result
      FROM changed c
)
SELECT n FROM changed;
