-- store/sqlite/free_document.sql: a task that left RUNNING lets its document go.
DELETE FROM doc_lease WHERE document = :document AND k = :k;
