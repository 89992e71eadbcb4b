-- store/postgres/fence_leader.sql: whether $2 still leads in this epoch; nobody takes over before we have committed.
-- A standby that took the server's place may count epochs again that were given out before: so the name counts, too.
SELECT epoch = $1 AND owner IS NOT DISTINCT FROM $2::bytea FROM leader FOR SHARE;
