-- store/postgres/grow_epoch.sql: every writing open has a higher number.
UPDATE meta SET epoch = epoch + 1 RETURNING epoch;
