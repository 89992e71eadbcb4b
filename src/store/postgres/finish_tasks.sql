-- store/postgres/finish_tasks.sql: tasks that end move to the history, each by one compare-and-set.
-- Says which did. ends: 1 frees its document, 2 all its documents, 3 keeps it.
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
), changed AS (
    DELETE FROM task t
     USING c
     WHERE t.id = c.id AND t.state = c.was_state AND t.attempt = c.was_attempt
    RETURNING c.n
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
      FROM c
      JOIN changed ON changed.n = c.n
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
)
SELECT n FROM changed;
