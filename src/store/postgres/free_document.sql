-- store/postgres/free_document.sql: a holder lets one document go.
DELETE FROM doc_lease WHERE document = $1 AND holder = $2;
