-- store/postgres/save_on_documents.sql: as save_tasks.sql, for tasks of which some take or leave their documents.
-- One that would start on a document that somebody else holds (G3) is passed over, too: `leased` is what this statement was
-- granted. No task and no document comes twice in one call, but for members of one batch. ends: 1 frees its document, 2 all its documents, 3 keeps it.
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
      JOIN task t ON t.id = c.id
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
     WHERE t.id = ANY ($1) AND t.id = c.id AND t.state = c.was_state AND t.attempt = c.was_attempt
       AND (NOT c.takes OR c.document IN (SELECT document FROM leased))
    RETURNING c.n, c.id, c.document, c.ends, c.node
), freed AS (
    DELETE FROM doc_lease
     WHERE document = ANY (ARRAY (SELECT document FROM changed WHERE ends = 1))
       AND holder = ANY (ARRAY (SELECT id FROM changed WHERE ends = 1))
), freed_all AS (
    DELETE FROM doc_lease WHERE batch AND holder = ANY (ARRAY (SELECT id FROM changed WHERE ends = 2))
), kept AS (
    UPDATE doc_lease
       SET kept = true, node = (SELECT node FROM changed LIMIT 1)
     WHERE document = ANY (ARRAY (SELECT document FROM changed WHERE ends = 3))
       AND holder = ANY (ARRAY (SELECT id FROM changed WHERE ends = 3))
)
SELECT n FROM changed;
