-- store/postgres/take_lead.sql: $1 leads for $2 milliseconds, if nobody does, or by force. Another leader is another epoch.
UPDATE leader
   SET owner = $1, epoch = epoch + (owner IS DISTINCT FROM $1)::integer, until_ms = (extract(epoch FROM clock_timestamp()) * 1000)::bigint + $2
 WHERE owner IS NULL OR owner = $1 OR until_ms <= (extract(epoch FROM clock_timestamp()) * 1000)::bigint OR $3
RETURNING epoch;
