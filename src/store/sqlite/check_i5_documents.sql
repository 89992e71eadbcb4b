-- store/sqlite/check_i5_documents.sql: I2 and I5: a document is held exactly by the one task of it that runs, or by
-- the batch of that, which keeps it until it ends. That there is one holder at most is the table's primary key. Beside a running server a document
-- may also stay held for a run function that has not returned.
SELECT 'I5', 'document ' || l.document || ' is held by task key ' || l.k || ', which does not run on it'
  FROM doc_lease l LEFT JOIN task t ON t.k = l.k
 WHERE CASE WHEN t.state = 3 THEN t.container = 0 AND t.document IS NOT l.document ELSE NOT :beside END
UNION ALL
SELECT 'I2', 'task ' || task_id(t.k, t.lo) || ' runs without holding its document'
  FROM task t
 WHERE t.state = 3 AND t.container = 0 AND t.document IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM doc_lease l
                    WHERE l.document = t.document AND l.k = iif(t.batch_hi = 0, t.k, t.batch_hi))
 LIMIT 20;
