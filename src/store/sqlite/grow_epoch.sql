-- store/sqlite/grow_epoch.sql: tokens of different openings never meet.
UPDATE meta SET epoch = epoch + 1;
