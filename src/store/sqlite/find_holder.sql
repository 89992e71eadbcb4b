-- store/sqlite/find_holder.sql: who holds this document.
SELECT k FROM doc_lease WHERE document = :document;
