-- store/sqlite/insert_body.sql: the order of a new task, written once. What few tasks have comes last but the payload.
INSERT INTO body (k, lo, type_id, queue_id, created_ms, expires_ms, backoff_base_ms, backoff_max_ms, backoff_factor,
      backoff_jitter, payload_raw, container, continues, runs_anyway, document, key, external_id, tags, parent_hi,
      parent_lo, team_hi, team_lo, schedule_hi, schedule_lo, batch_hi, batch_lo, metadata, payload)
VALUES (:k, :lo, :type_id, :queue_id, :created_ms, :expires_ms, :backoff_base_ms, :backoff_max_ms,
        :backoff_factor, :backoff_jitter, :payload_raw, :container, :continues, :runs_anyway, :document, :key,
        :external_id, :tags, :parent_hi, :parent_lo, :team_hi, :team_lo, :schedule_hi, :schedule_lo, :batch_hi,
        :batch_lo, :metadata, :payload);
