-- store/sqlite/find_key.sql: the task that has this idempotency key.
SELECT key.k, body.lo FROM key JOIN body ON body.k = key.k WHERE key.key = :key;
