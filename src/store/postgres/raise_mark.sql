-- store/postgres/raise_mark.sql: this transaction's number in store $1, to ask later whether it was committed.
INSERT INTO mark (node, number) VALUES ($1, 1) ON CONFLICT (node) DO UPDATE SET number = mark.number + 1
RETURNING number;
