-- store/postgres/check_i5_documents.sql: I2 and I5: a document is held exactly by the one task of it that runs, or by
-- the batch of that, or it is kept for a run function that has not returned. That there is one holder at most is the
-- table's primary key.
(SELECT 'I5', 'document ' || encode(l.document, 'escape') || ' is held by task ' || l.holder || ', which does not run on it'
   FROM doc_lease l
   LEFT JOIN task t ON t.id = l.holder
  WHERE CASE WHEN t.state = 3 THEN NOT t.container AND t.document IS DISTINCT FROM l.document
             ELSE NOT l.kept END
  LIMIT 20)
UNION ALL
(SELECT 'I2', 'task ' || t.id || ' runs without holding its document'
   FROM task t
  WHERE t.state = 3 AND NOT t.container AND t.document IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM doc_lease l WHERE l.document = t.document AND l.holder = coalesce(t.batch, t.id))
  LIMIT 20);
