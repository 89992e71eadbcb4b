-- store/sqlite/free_document.sql: a holder lets one document go.
DELETE FROM doc_lease WHERE document = :document AND k = :k;
