-- store/sqlite/begin.sql: one transaction for a whole batch. IMMEDIATE, so that it can never fail halfway for a lock.
BEGIN IMMEDIATE;
