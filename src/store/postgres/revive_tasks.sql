-- store/postgres/revive_tasks.sql: finished tasks live again: they move back, each by one compare-and-set.
-- Says which did. What the hot row repeats of the order comes from the body. As in save_tasks.sql, a container that runs at
-- once needs its document. `ends` is 0: nothing that has ended holds one.
WITH c AS MATERIALIZED (
    SELECT unnest($1::uuid[]) AS id, unnest($2::integer[]) AS was_state, unnest($3::integer[]) AS was_attempt,
           unnest($4::bytea[]) AS document, unnest($5::boolean[]) AS takes, unnest($6::integer[]) AS ends,
           unnest($7::uuid[]) AS holder, unnest($8::boolean[]) AS in_batch, unnest($9::text[]) AS lock,
           unnest($10::bigint[]) AS node, unnest($11::integer[]) AS state, unnest($12::integer[]) AS priority,
           unnest($13::integer[]) AS attempt, unnest($14::integer[]) AS retries,
           unnest($15::integer[]) AS max_retries, unnest($16::bigint[]) AS timeout_ms,
           unnest($17::bigint[]) AS scheduled_ms, unnest($18::bigint[]) AS queued_ms,
           unnest($19::bigint[]) AS started_ms, unnest($20::bigint[]) AS updated_ms,
           unnest($21::boolean[]) AS cancel_requested, unnest($22::bigint[]) AS token,
           unnest($23::integer[]) AS outcome, unnest($24::bytea[]) AS worker, unnest($25::bigint[]) AS lease_ms,
           unnest($26::bigint[]) AS lease_until_ms, unnest($27::bigint[]) AS attempt_ended_ms,
           unnest($28::integer[]) AS log_bytes, unnest($29::integer[]) AS unmet,
           unnest($30::bytea[]) AS cancel_reason, unnest($31::float8[]) AS progress,
           unnest($32::bytea[]) AS progress_message, unnest($33::float8[]) AS cost_estimated,
           unnest($34::float8[]) AS cost_actual, unnest($35::float8[]) AS cost_tokens,
           unnest($36::bytea[]) AS error_code, unnest($37::bytea[]) AS error_message,
           unnest($38::bytea[]) AS error_detail, generate_subscripts($1, 1) AS n
), fit AS MATERIALIZED (
    SELECT c.n, c.document, c.holder, c.in_batch, c.node, c.lock, c.updated_ms
      FROM c
      JOIN done t ON t.id = c.id
     WHERE c.takes AND t.id = ANY ($1) AND t.state = c.was_state AND t.attempt = c.was_attempt
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
     WHERE t.id = ANY ($1) AND t.id = c.id AND t.state = c.was_state AND t.attempt = c.was_attempt
       AND (NOT c.takes OR c.document IN (SELECT document FROM leased))
    RETURNING c.*
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
      FROM changed c
      JOIN body b ON b.id = c.id
)
SELECT n FROM changed;
