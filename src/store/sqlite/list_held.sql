-- store/sqlite/list_held.sql: every document that is held, and by whom.
SELECT l.document, b.k, b.lo FROM doc_lease l JOIN body b ON b.k = l.k;
