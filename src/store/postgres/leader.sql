-- store/postgres/leader.sql: who leads.

-- name: take_lead
-- $1 leads for $2 milliseconds, if nobody does, or by force. Another leader is another epoch.
UPDATE leader
   SET owner = $owner, epoch = epoch + (owner IS DISTINCT FROM $owner)::integer, until_ms = @now_ms + $ttl_ms
 WHERE owner IS NULL OR owner = $owner OR until_ms <= @now_ms OR $by_force
RETURNING epoch;

-- name: leave_lead
-- The leader stops leading.
UPDATE leader SET owner = NULL, until_ms = 0 WHERE owner = $owner AND epoch = $epoch;

-- name: read_leader
-- Who leads now.
SELECT owner, epoch FROM leader WHERE owner IS NOT NULL AND until_ms > @now_ms;

-- name: fence_leader
-- Whether $2 still leads in this epoch; nobody takes over before we have committed.
-- A standby that took the server's place may count epochs again that were given out before: so the name counts, too.
SELECT epoch = $epoch AND owner IS NOT DISTINCT FROM $owner::bytea FROM leader FOR SHARE;
