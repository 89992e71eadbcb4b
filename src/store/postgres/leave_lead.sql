-- store/postgres/leave_lead.sql: the leader stops leading.
UPDATE leader SET owner = NULL, until_ms = 0 WHERE owner = $1 AND epoch = $2;
