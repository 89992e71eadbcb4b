-- store/sqlite/005_counters.sql: only what has ended is counted in the file.
-- Live tasks are walked through at every start, so their counters can be had for nothing then, and a commit that only
-- creates or starts tasks writes one page less. A new table, because dropping columns reads the whole schema again for
-- each of them and slowed the first start.
CREATE TABLE ended (
    queue_id  INTEGER PRIMARY KEY,
    completed INTEGER NOT NULL,
    failed    INTEGER NOT NULL,
    cancelled INTEGER NOT NULL,
    timeout   INTEGER NOT NULL
);
INSERT INTO ended SELECT queue_id, completed, failed, cancelled, timeout FROM counter;
DROP TABLE counter;
