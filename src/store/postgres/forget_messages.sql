-- store/postgres/forget_messages.sql: messages older than $1 milliseconds go.
DELETE FROM message WHERE at_ms < (extract(epoch FROM clock_timestamp()) * 1000)::bigint - $1;
