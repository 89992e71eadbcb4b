-- store/postgres/fence_leader.sql: whether this epoch is still the leader's; nobody takes over before we have committed.
SELECT epoch = $1 AND owner IS NOT NULL FROM leader FOR SHARE;
