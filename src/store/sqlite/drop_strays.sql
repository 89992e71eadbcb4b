-- store/sqlite/drop_strays.sql: at start nobody runs anything any more: leases of what does not run are left over.
DELETE FROM doc_lease WHERE NOT EXISTS (SELECT 1 FROM task t WHERE t.k = doc_lease.k AND t.state = 3);
