-- store/sqlite/update_task.sql: one row, one compare-and-set.
-- No row changed means the caller lost: somebody else moved the task since it was read.
UPDATE task
   SET state = :state, priority = :priority, attempt = :attempt, retries = :retries,
       max_retries = :max_retries, timeout_ms = :timeout_ms, scheduled_ms = :scheduled_ms,
       queued_ms = :queued_ms, started_ms = :started_ms, updated_ms = :updated_ms,
       cancel_requested = :cancel_requested, token = :token, outcome = :outcome, worker = :worker,
       lease_ms = :lease_ms, lease_until_ms = :lease_until_ms, attempt_ended_ms = :attempt_ended_ms,
       log_bytes = :log_bytes, unmet = :unmet, cancel_reason = :cancel_reason, progress = :progress,
       progress_message = :progress_message, cost_estimated = :cost_estimated, cost_actual = :cost_actual,
       cost_tokens = :cost_tokens, error_code = :error_code, error_message = :error_message,
       error_detail = :error_detail
 WHERE k = :k AND lo = :lo AND state = :was_state AND attempt = :was_attempt;
