-- store/postgres/load_live.sql: live tasks with their orders; the same columns as load_done.sql.
-- What is longer than omit_over bytes is not read at all; -1 leaves the payload out. In order of ids, because whoever
-- loads to change locks them too (lock_live in load.c), and two who lock in one order never wait for each other.
SELECT k.n, b.id, b.type, b.queue, b.created_ms, b.expires_ms, b.backoff_base_ms, b.backoff_max_ms,
       b.backoff_factor, b.backoff_jitter, b.payload_raw, b.container, b.continues, b.runs_anyway, b.document,
       b.key, b.external_id, b.tags, b.parent, b.team, b.schedule, b.batch, b.metadata,
       CASE WHEN octet_length(b.payload) > k.omit_over THEN NULL ELSE b.payload END,
       b.payload IS NOT NULL, t.state, t.priority, t.attempt, t.retries, t.max_retries, t.timeout_ms,
       t.scheduled_ms, t.queued_ms, t.started_ms, t.updated_ms, t.cancel_requested, t.token, t.outcome, t.worker,
       t.lease_ms, t.lease_until_ms, t.attempt_ended_ms, t.log_bytes, t.unmet, t.cancel_reason, t.progress,
       t.progress_message, t.cost_estimated, t.cost_actual, t.cost_tokens, t.error_code, t.error_message,
       t.error_detail, 0::bigint, 0::bigint, NULL::bytea, false
  FROM unnest($1::uuid[], $2::bigint[]) WITH ORDINALITY AS k (id, omit_over, n)
  JOIN task t ON t.id = k.id AND t.id = ANY ($1)
  JOIN body b ON b.id = t.id
 ORDER BY t.id
