-- store/postgres/insert_fresh.sql: new tasks that nothing has happened to yet: what insert_tasks.sql does, with half as many arrays.
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
           unnest($26::integer[]) AS max_retries, unnest($27::bigint[]) AS timeout_ms,
           unnest($28::bigint[]) AS scheduled_ms, unnest($29::bigint[]) AS queued_ms,
           unnest($30::bigint[]) AS updated_ms, unnest($31::integer[]) AS unmet
), bodies AS (
    INSERT INTO body (id, type, queue, created_ms, expires_ms, backoff_base_ms, backoff_max_ms, backoff_factor,
                      backoff_jitter, payload_raw, container, continues, runs_anyway, document, key, external_id,
                      tags, parent, team, schedule, batch, metadata, payload)
    SELECT id, type, queue, created_ms, expires_ms, backoff_base_ms, backoff_max_ms, backoff_factor,
           backoff_jitter, payload_raw, container, continues, runs_anyway, document, key, external_id, tags,
           parent, team, schedule, batch, metadata, payload
      FROM c
)
INSERT INTO task (id, type, queue, document, batch, container, expires_ms, state, priority, max_retries,
                  timeout_ms, scheduled_ms, queued_ms, updated_ms, unmet, attempt, retries, started_ms,
                  cancel_requested, token, outcome, lease_ms, lease_until_ms, attempt_ended_ms, log_bytes)
SELECT id, type, queue, document, batch, container, expires_ms, state, priority, max_retries, timeout_ms,
       scheduled_ms, queued_ms, updated_ms, unmet, 0, 0, 0, false, 0, 0, 0, 0, 0, 0
  FROM c;
