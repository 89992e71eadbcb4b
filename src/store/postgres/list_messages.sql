-- store/postgres/list_messages.sql: messages behind a number.
SELECT number, sender, body FROM message WHERE number > $1 ORDER BY number LIMIT $2;
