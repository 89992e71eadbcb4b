-- store/sqlite/insert_task.sql: the hot row of a task that is new or has been revived.
INSERT INTO task (k, lo, type_id, queue_id, document, expires_ms, created_ms, related, parent_hi, parent_lo,
      batch_hi, batch_lo, container, continues, runs_anyway, state, priority, attempt, retries,
      max_retries, timeout_ms, scheduled_ms, queued_ms, started_ms, updated_ms, cancel_requested, token,
      outcome, worker, lease_ms, lease_until_ms, attempt_ended_ms, log_bytes, unmet, cancel_reason, progress,
      progress_message, cost_estimated, cost_actual, cost_tokens, error_code, error_message, error_detail)
VALUES (:k, :lo, :type_id, :queue_id, :document, :expires_ms, :created_ms, :related, :parent_hi, :parent_lo,
        :batch_hi, :batch_lo, :container, :continues, :runs_anyway, :state, :priority, :attempt,
        :retries, :max_retries, :timeout_ms, :scheduled_ms, :queued_ms, :started_ms, :updated_ms,
        :cancel_requested, :token, :outcome, :worker, :lease_ms, :lease_until_ms, :attempt_ended_ms,
        :log_bytes, :unmet, :cancel_reason, :progress, :progress_message, :cost_estimated, :cost_actual, :cost_tokens,
        :error_code, :error_message, :error_detail);
