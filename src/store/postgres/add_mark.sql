-- store/postgres/add_mark.sql: a store that has not written yet; so from here on its row is there, or locked.
INSERT INTO mark (node, number) VALUES ($1, 0);
