-- tests/upgrade/0.1/postgres.sql: a database of that release.
SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE public.attempt (
    id uuid NOT NULL,
    number integer NOT NULL,
    outcome integer NOT NULL,
    worker bytea,
    started_ms bigint NOT NULL,
    finished_ms bigint NOT NULL,
    error_code bytea,
    error_message bytea,
    error_detail bytea,
    CONSTRAINT attempt_number_check CHECK ((number >= 1)),
    CONSTRAINT attempt_outcome_check CHECK (((outcome >= 1) AND (outcome <= 6)))
);
CREATE TABLE public.body (
    id uuid NOT NULL,
    type text NOT NULL COLLATE pg_catalog."C",
    queue text NOT NULL COLLATE pg_catalog."C",
    created_ms bigint NOT NULL,
    expires_ms bigint NOT NULL,
    backoff_base_ms bigint NOT NULL,
    backoff_max_ms bigint NOT NULL,
    backoff_factor double precision NOT NULL,
    backoff_jitter double precision NOT NULL,
    payload_raw boolean NOT NULL,
    container boolean NOT NULL,
    continues boolean NOT NULL,
    runs_anyway boolean NOT NULL,
    document bytea,
    key bytea,
    external_id bytea,
    tags bytea,
    parent uuid,
    team uuid,
    schedule uuid,
    batch uuid,
    metadata bytea,
    payload bytea
);
CREATE TABLE public.counter (
    node bigint NOT NULL,
    queue text NOT NULL COLLATE pg_catalog."C",
    scheduled bigint NOT NULL,
    waiting bigint NOT NULL,
    queued bigint NOT NULL,
    running bigint NOT NULL,
    retrying bigint NOT NULL,
    completed bigint NOT NULL,
    failed bigint NOT NULL,
    cancelled bigint NOT NULL,
    timeout bigint NOT NULL
)
WITH (fillfactor='50');
CREATE TABLE public.dependency (
    id uuid NOT NULL,
    "on" uuid NOT NULL
);
CREATE TABLE public.doc_lease (
    document bytea NOT NULL,
    holder uuid NOT NULL,
    batch boolean NOT NULL,
    kept boolean DEFAULT false NOT NULL,
    node bigint NOT NULL,
    lock text NOT NULL,
    since_ms bigint NOT NULL
)
WITH (fillfactor='70');
CREATE TABLE public.done (
    id uuid NOT NULL,
    state integer NOT NULL,
    priority integer NOT NULL,
    attempt integer NOT NULL,
    retries integer NOT NULL,
    max_retries integer NOT NULL,
    timeout_ms bigint NOT NULL,
    scheduled_ms bigint NOT NULL,
    queued_ms bigint NOT NULL,
    started_ms bigint NOT NULL,
    updated_ms bigint NOT NULL,
    cancel_requested boolean NOT NULL,
    token bigint NOT NULL,
    outcome integer NOT NULL,
    worker bytea,
    lease_ms bigint NOT NULL,
    lease_until_ms bigint NOT NULL,
    attempt_ended_ms bigint NOT NULL,
    log_bytes integer NOT NULL,
    unmet integer NOT NULL,
    cancel_reason bytea,
    progress double precision,
    progress_message bytea,
    cost_estimated double precision,
    cost_actual double precision,
    cost_tokens double precision,
    error_code bytea,
    error_message bytea,
    error_detail bytea,
    finished_ms bigint NOT NULL,
    cancelled_ms bigint NOT NULL,
    result bytea,
    CONSTRAINT done_attempt_check CHECK ((attempt >= 0)),
    CONSTRAINT done_check CHECK (((max_retries = '-1'::integer) OR (retries <= max_retries))),
    CONSTRAINT done_outcome_check CHECK (((outcome >= 0) AND (outcome <= 6))),
    CONSTRAINT done_priority_check CHECK (((priority >= 1) AND (priority <= 4))),
    CONSTRAINT done_retries_check CHECK ((retries >= 0)),
    CONSTRAINT done_state_check CHECK (((state >= 5) AND (state <= 8))),
    CONSTRAINT done_unmet_check CHECK ((unmet >= 0))
);
CREATE TABLE public.leader (
    one boolean DEFAULT true NOT NULL,
    owner bytea,
    epoch bigint NOT NULL,
    until_ms bigint NOT NULL,
    CONSTRAINT leader_one_check CHECK (one)
)
WITH (fillfactor='50');
CREATE TABLE public.log (
    id uuid NOT NULL,
    number integer NOT NULL,
    until_byte bigint NOT NULL,
    text bytea NOT NULL
);
CREATE TABLE public.mark (
    node bigint NOT NULL,
    number bigint NOT NULL
)
WITH (fillfactor='10', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_scale_factor='0');
CREATE TABLE public.message (
    number bigint NOT NULL,
    sender bytea NOT NULL,
    body bytea NOT NULL,
    at_ms bigint NOT NULL
);
ALTER TABLE public.message ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.message_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.meta (
    one boolean DEFAULT true NOT NULL,
    version integer NOT NULL,
    oldest_reader integer NOT NULL,
    epoch bigint DEFAULT 0 NOT NULL,
    CONSTRAINT meta_one_check CHECK (one)
);
CREATE TABLE public.node (
    id bytea NOT NULL,
    body bytea NOT NULL,
    seen_ms bigint NOT NULL,
    writer bigint NOT NULL
)
WITH (fillfactor='50');
CREATE TABLE public.queue (
    name text NOT NULL COLLATE pg_catalog."C",
    paused boolean NOT NULL,
    max_concurrent bigint NOT NULL,
    rate_per_second double precision NOT NULL,
    burst bigint NOT NULL,
    tokens double precision DEFAULT 0 NOT NULL,
    tokens_ms bigint DEFAULT 0 NOT NULL,
    CONSTRAINT queue_burst_check CHECK ((burst >= 0)),
    CONSTRAINT queue_max_concurrent_check CHECK ((max_concurrent >= 0)),
    CONSTRAINT queue_rate_per_second_check CHECK ((rate_per_second >= (0)::double precision))
)
WITH (fillfactor='70');
CREATE TABLE public.record (
    kind integer NOT NULL,
    id uuid NOT NULL,
    parent uuid,
    owner bytea,
    key bytea,
    due_ms bigint NOT NULL,
    at_ms bigint NOT NULL,
    mark integer NOT NULL,
    version bigint NOT NULL,
    body bytea,
    CONSTRAINT record_due_ms_check CHECK ((due_ms >= 0)),
    CONSTRAINT record_kind_check CHECK ((kind > 0)),
    CONSTRAINT record_version_check CHECK ((version > 0))
);
CREATE TABLE public.tag (
    tag bytea NOT NULL,
    id uuid NOT NULL
);
CREATE TABLE public.task (
    id uuid NOT NULL,
    type text NOT NULL COLLATE pg_catalog."C",
    queue text NOT NULL COLLATE pg_catalog."C",
    document bytea,
    batch uuid,
    container boolean NOT NULL,
    expires_ms bigint NOT NULL,
    offered boolean DEFAULT true NOT NULL,
    state integer NOT NULL,
    priority integer NOT NULL,
    attempt integer NOT NULL,
    retries integer NOT NULL,
    max_retries integer NOT NULL,
    timeout_ms bigint NOT NULL,
    scheduled_ms bigint NOT NULL,
    queued_ms bigint NOT NULL,
    started_ms bigint NOT NULL,
    updated_ms bigint NOT NULL,
    cancel_requested boolean NOT NULL,
    token bigint NOT NULL,
    outcome integer NOT NULL,
    worker bytea,
    lease_ms bigint NOT NULL,
    lease_until_ms bigint NOT NULL,
    attempt_ended_ms bigint NOT NULL,
    log_bytes integer NOT NULL,
    unmet integer NOT NULL,
    cancel_reason bytea,
    progress double precision,
    progress_message bytea,
    cost_estimated double precision,
    cost_actual double precision,
    cost_tokens double precision,
    error_code bytea,
    error_message bytea,
    error_detail bytea,
    due_ms bigint GENERATED ALWAYS AS (
CASE
    WHEN (state = 3) THEN
    CASE
        WHEN container THEN NULL::bigint
        ELSE LEAST(lease_until_ms,
        CASE
            WHEN (timeout_ms > 0) THEN (started_ms + timeout_ms)
            ELSE NULL::bigint
        END)
    END
    WHEN (state = 4) THEN scheduled_ms
    ELSE LEAST(
    CASE
        WHEN (state = 0) THEN scheduled_ms
        ELSE NULL::bigint
    END,
    CASE
        WHEN ((expires_ms <> 0) AND (attempt = 0) AND (queued_ms < expires_ms)) THEN expires_ms
        ELSE NULL::bigint
    END)
END) STORED,
    CONSTRAINT task_attempt_check CHECK ((attempt >= 0)),
    CONSTRAINT task_check CHECK (((max_retries = '-1'::integer) OR (retries <= max_retries))),
    CONSTRAINT task_check1 CHECK (((NOT container) OR (attempt = 0))),
    CONSTRAINT task_check2 CHECK (
CASE
    WHEN ((state = 3) AND (NOT container)) THEN ((attempt > 0) AND (token <> 0) AND (worker IS NOT NULL) AND (lease_until_ms > 0) AND (outcome = 0))
    ELSE (lease_until_ms = 0)
END),
    CONSTRAINT task_outcome_check CHECK (((outcome >= 0) AND (outcome <= 6))),
    CONSTRAINT task_priority_check CHECK (((priority >= 1) AND (priority <= 4))),
    CONSTRAINT task_retries_check CHECK ((retries >= 0)),
    CONSTRAINT task_state_check CHECK (((state >= 0) AND (state <= 4))),
    CONSTRAINT task_unmet_check CHECK ((unmet >= 0))
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.05', autovacuum_vacuum_cost_delay='0');
CREATE TABLE public.token (
    id bytea NOT NULL,
    number bigint NOT NULL,
    line bytea NOT NULL
);
ALTER TABLE public.token ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.token_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.writer (
    node bigint NOT NULL,
    seen_ms bigint NOT NULL
);
INSERT INTO public.attempt VALUES ('01a1ee49-6c0c-7000-ae5a-e97daa6557fb', 1, 2, '\x77', 1803978000000, 1803978000000, '\x45', '\x6f6e6365206d6f7265', NULL);
INSERT INTO public.body VALUES ('01a1ee49-6bd6-7000-aa42-a73f87304d09', 'remind', 'default', 1803978000000, 0, 5000, 3600000, 5, 0, false, false, false, true, NULL, NULL, NULL, NULL, NULL, NULL, '01a1ee49-5e86-7000-be39-e77a7f08ab0e', NULL, NULL, '\x7b227363686564756c654964223a2230316131656534392d356538362d373030302d626533392d653737613766303861623065222c22657865637574696f6e4964223a2230316131656534392d366264362d373030302d616134322d613733663837333034643039222c227363686564756c6564466f72223a22323032372d30332d30325430393a30303a30302e3030305a222c227469746c65223a224e657773222c22757365724964223a22616e6e222c2274696d657a6f6e65223a22555443227d');
INSERT INTO public.body VALUES ('01a1ee49-6bec-7000-9e84-c95aca105518', 'deliver.web', 'deliveries', 1803978000000, 0, 5000, 3600000, 5, 0, false, false, false, false, NULL, '\x64656c697665723a30316131656534392d366264362d373030302d616134322d6137336638373330346430393a574542', NULL, NULL, NULL, NULL, '01a1ee49-5e86-7000-be39-e77a7f08ab0e', NULL, NULL, '\x7b227469746c65223a224e657773222c2274657874223a224e657773222c226d6573736167654964223a2230316131656534392d366264362d373030302d616134322d6137336638373330346430392e574542222c22757365724964223a22616e6e222c227363686564756c654964223a2230316131656534392d356538362d373030302d626533392d653737613766303861623065222c22657865637574696f6e4964223a2230316131656534392d366264362d373030302d616134322d613733663837333034643039222c226174223a22323032372d30332d30325430393a30303a30302e3030305a227d');
INSERT INTO public.body VALUES ('01a1ee49-6c02-7000-8794-69f82d3d02af', 'plain', 'default', 1803978000000, 0, 5000, 3600000, 5, 0, false, false, false, false, NULL, '\x6b30', NULL, '\x0100610200c3a9', NULL, NULL, NULL, NULL, '\x7b226d223a20307d', '\x7b226e223a20307d');
INSERT INTO public.body VALUES ('01a1ee49-6c04-7000-9944-627fe142dd4b', 'plain', 'default', 1803978000000, 0, 5000, 3600000, 5, 0, false, false, false, false, NULL, '\x6b31', NULL, '\x0100610200c3a9', NULL, NULL, NULL, NULL, '\x7b226d223a20317d', '\x7b226e223a20317d');
INSERT INTO public.body VALUES ('01a1ee49-6c05-7000-bddc-db0ee9199a40', 'later', 'default', 1803978000000, 0, 7, 99, 2, 0.5, false, false, false, false, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.body VALUES ('01a1ee49-6c06-7000-bdf7-917fb4e28313', 'fails', 'default', 1803978000000, 0, 5000, 3600000, 5, 0, false, false, false, false, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.body VALUES ('01a1ee49-6c0c-7000-ae5a-e97daa6557fb', 'again', 'default', 1803978000000, 0, 7200000, 7200000, 1, 0, false, false, false, false, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.body VALUES ('01a1ee49-6c12-7000-aee6-c25e7a4b6390', 'done', 'default', 1803978000000, 0, 5000, 3600000, 5, 0, false, false, false, false, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.body VALUES ('01a1ee49-6c15-7000-a509-954ba53c6452', 'never', 'default', 1803978000000, 0, 5000, 3600000, 5, 0, false, false, false, false, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.body VALUES ('01a1ee49-6c17-7000-82bc-d21482428591', 'first', 'default', 1803978000000, 0, 5000, 3600000, 5, 0, false, false, false, false, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.body VALUES ('01a1ee49-6c18-7000-951f-ac77d987997a', 'second', 'default', 1803978000000, 0, 5000, 3600000, 5, 0, false, false, false, false, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.body VALUES ('01a1ee49-6c19-7000-bd6c-656f934a92d2', 'family', 'default', 1803978000000, 0, 5000, 3600000, 5, 0, false, true, false, false, '\x626f6f6b', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.body VALUES ('01a1ee49-6c19-7001-a334-efa8f40c38f0', 'one', 'default', 1803978000000, 0, 5000, 3600000, 5, 0, false, false, false, false, '\x626f6f6b', NULL, NULL, NULL, '01a1ee49-6c19-7000-bd6c-656f934a92d2', NULL, NULL, '01a1ee49-6c19-7000-bd6c-656f934a92d2', NULL, NULL);
INSERT INTO public.body VALUES ('01a1ee49-6c19-7002-a279-b3ae3e6d939b', 'two', 'default', 1803978000000, 0, 5000, 3600000, 5, 0, false, false, false, false, '\x626f6f6b', NULL, NULL, NULL, '01a1ee49-6c19-7000-bd6c-656f934a92d2', NULL, NULL, '01a1ee49-6c19-7000-bd6c-656f934a92d2', NULL, NULL);
INSERT INTO public.body VALUES ('01a1ee49-6c1f-7000-a7b8-5072d55ec1fd', 'waits', 'default', 1803978000000, 0, 5000, 3600000, 5, 0, false, false, false, false, '\x626f6f6b', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.body VALUES ('01a1ee49-6c20-7001-b4a2-eed99943ce8e', 'team.task', 'team/346', 1803978000000, 0, 5000, 3600000, 5, 0, false, false, false, false, NULL, NULL, NULL, NULL, NULL, '01a1ee49-6c20-7000-9034-fae9b162aac9', NULL, NULL, NULL, '\x7b226964223a2261222c227469746c65223a2241227d');
INSERT INTO public.body VALUES ('01a1ee49-6c20-7002-ab72-d2271076ede9', 'team.task', 'team/346', 1803978000000, 0, 5000, 3600000, 5, 0, false, false, false, false, NULL, NULL, NULL, NULL, NULL, '01a1ee49-6c20-7000-9034-fae9b162aac9', NULL, NULL, NULL, '\x7b226964223a2262222c227469746c65223a2242227d');
INSERT INTO public.body VALUES ('01a1ee49-6c23-7000-ac8f-889dec66e502', 'runs', 'default', 1803978000000, 0, 5000, 3600000, 5, 0, false, false, false, false, '\x70616765', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.counter VALUES (743338940507978613, 'deliveries', 0, 0, 0, 0, 0, 1, 0, 0, 0);
INSERT INTO public.counter VALUES (743338940507978613, 'team/346', 0, 1, 1, 0, 0, 0, 0, 0, 0);
INSERT INTO public.counter VALUES (743338940507978613, 'default', 1, 1, 5, 2, 1, 3, 1, 1, 0);
INSERT INTO public.dependency VALUES ('01a1ee49-6c18-7000-951f-ac77d987997a', '01a1ee49-6c17-7000-82bc-d21482428591');
INSERT INTO public.dependency VALUES ('01a1ee49-6c20-7002-ab72-d2271076ede9', '01a1ee49-6c20-7001-b4a2-eed99943ce8e');
INSERT INTO public.doc_lease VALUES ('\x626f6f6b', '01a1ee49-6c19-7000-bd6c-656f934a92d2', true, false, 743338940507978613, '01a1ee49-6c19-7000-bd6c-656f934a92d2', 1803978000000);
INSERT INTO public.doc_lease VALUES ('\x70616765', '01a1ee49-6c23-7000-ac8f-889dec66e502', false, false, 743338940507978613, '1-68816e84b714fb63', 1803978000000);
INSERT INTO public.done VALUES ('01a1ee49-6bec-7000-9e84-c95aca105518', 5, 2, 1, 0, 3, 120000, 0, 1803978000000, 1803978000000, 1803978000000, false, -1453542756633565061, 1, '\x776562', 120000, 0, 1803978000000, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1803978000000, 0, NULL);
INSERT INTO public.done VALUES ('01a1ee49-6bd6-7000-aa42-a73f87304d09', 5, 2, 1, 0, 3, 300000, 0, 1803978000000, 1803978000000, 1803978000000, false, -3339323997813119653, 1, '\x657272616e643a72756e3a3140766d2d32393533372d663439653562', 30000, 0, 1803978000000, 0, 0, NULL, NULL, NULL, 1, NULL, NULL, NULL, NULL, NULL, 1803978000000, 0, '\x224e65777322');
INSERT INTO public.done VALUES ('01a1ee49-6c06-7000-bdf7-917fb4e28313', 6, 2, 1, 0, 0, 300000, 0, 1803978000000, 1803978000000, 1803978000000, false, 3663410416467782059, 2, '\x77', 60000, 0, 1803978000000, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, '\x45', '\x6e6f', '\x7b2278223a205b315d7d', 1803978000000, 0, NULL);
INSERT INTO public.done VALUES ('01a1ee49-6c12-7000-aee6-c25e7a4b6390', 5, 2, 1, 0, 3, 300000, 0, 1803978000000, 1803978000000, 1803978000000, false, 8647904662397278517, 1, '\x77', 60000, 0, 1803978000000, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1803978000000, 0, '\x7b2272223a20225c7530306539227d');
INSERT INTO public.done VALUES ('01a1ee49-6c15-7000-a509-954ba53c6452', 7, 2, 0, 0, 3, 300000, 0, 1803978000000, 0, 1803978000000, false, 0, 0, NULL, 0, 0, 0, 0, 0, '\x6e6f74206e6565646564', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1803978000000, 1803978000000, NULL);
INSERT INTO public.done VALUES ('01a1ee49-6c19-7001-a334-efa8f40c38f0', 5, 2, 1, 0, 3, 300000, 0, 1803978000000, 1803978000000, 1803978000000, false, 9044091170291628699, 1, '\x77', 60000, 0, 1803978000000, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1803978000000, 0, '\x31');
INSERT INTO public.leader VALUES (true, '\x766d2d32393533372d663439653562', 1, 1794999161180);
INSERT INTO public.log VALUES ('01a1ee49-6c0c-7000-ae5a-e97daa6557fb', 1, 23, '\x6669727374206c696e650a7365636f6e64206c696e650a');
INSERT INTO public.mark VALUES (743338940507978613, 30);
INSERT INTO public.meta VALUES (true, 5, 1, 1);
INSERT INTO public.node VALUES ('\x766d2d32393533372d663439653562', '\x7b226964223a22766d2d32393533372d663439653562222c2261646472657373223a223132372e302e302e313a3333373633222c22706964223a32393533372c226c6561646572223a747275652c2273746f7265223a226f6b222c2262726f6b6572223a22706f6c6c222c2276657273696f6e223a22302e312e30222c22737461727465644174223a22323032372d30332d30315430393a30303a30302e3030305a222c2272756e6e696e67223a302c22636c6f636b4f66667365744d73223a307d0a7b226964223a22657272616e643a72756e3a3140766d2d32393533372d663439653562222c226b696e64223a2272756e222c226e6f6465223a22766d2d32393533372d663439653562222c227374617465223a2269646c65222c227461736b496473223a5b5d2c226c6173745365656e4174223a22323032372d30332d30315430393a30303a30302e3030305a227d2c7b226964223a22657272616e643a72756e3a3240766d2d32393533372d663439653562222c226b696e64223a2272756e222c226e6f6465223a22766d2d32393533372d663439653562222c227374617465223a2269646c65222c227461736b496473223a5b5d2c226c6173745365656e4174223a22323032372d30332d30315430393a30303a30302e3030305a227d2c7b226964223a22657272616e643a72756e3a3340766d2d32393533372d663439653562222c226b696e64223a2272756e222c226e6f6465223a22766d2d32393533372d663439653562222c227374617465223a2269646c65222c227461736b496473223a5b5d2c226c6173745365656e4174223a22323032372d30332d30315430393a30303a30302e3030305a227d0a7b2263726561746564223a302c2273746172746564223a302c2266696e6973686564223a302c2277616974696e67223a302c2268696e74734c61796f7574223a322c226c696e65223a312c2277616e7473223a5b7b227479706573223a5b226e6f6f70222c226563686f222c22736c656570222c226661696c222c22646f63756d656e742e617070656e64222c2272656d696e64222c2264656c697665722e656d61696c222c2264656c697665722e6d6f62696c65222c2264656c697665722e776562225d2c22717565756573223a5b5d2c22616e795175657565223a747275657d5d7d', 1794999151191, 743338940507978613);
INSERT INTO public.queue VALUES ('narrow', false, 3, 2.5, 4, 0, 0);
INSERT INTO public.record VALUES (6, '01a1ee49-6bd6-7000-aa42-a73f87304d09', NULL, '\x616e6e', NULL, 1838538000000, 1803978000000, 0, 1, '\x7b2271756572696573223a312c22746f6b656e73223a302c227363686564756c654964223a2230316131656534392d356538362d373030302d626533392d653737613766303861623065227d');
INSERT INTO public.record VALUES (3, '01a1ee49-6bec-7001-aa1a-e8b9bef0b364', '01a1ee49-5e86-7000-be39-e77a7f08ab0e', '\x616e6e', NULL, 1838538000000, 1803978000000, 0, 1, '\x7b226964223a2230316131656534392d366265632d373030312d616131612d653862396265663062333634222c22757365724964223a22616e6e222c227363686564756c654964223a2230316131656534392d356538362d373030302d626533392d653737613766303861623065222c22657865637574696f6e4964223a2230316131656534392d366264362d373030302d616134322d613733663837333034643039222c227469746c65223a224e657773222c22636f6e74656e74223a224e657773222c2272656164223a66616c73652c22637265617465644174223a22323032372d30332d30325430393a30303a30302e3030305a222c2265787069726573223a22323032382d30342d30355430393a30303a30302e3030305a227d');
INSERT INTO public.record VALUES (1, '01a1ee49-5e86-7000-be39-e77a7f08ab0e', NULL, '\x616e6e', NULL, 1804064400000, 1803891600000, 3, 3, '\x7b226964223a2230316131656534392d356538362d373030302d626533392d653737613766303861623065222c227469746c65223a224e657773222c2269734f6e6554696d65223a66616c73652c227272756c65223a22465245513d4441494c59222c2264747374617274223a22323032372d30332d30315430393a30303a3030222c2274696d657a6f6e65223a22555443222c22737461747573223a22414354495645222c226e657874457865637574696f6e54696d65223a22323032372d30332d30335430393a30303a30302e3030305a222c226c617374457865637574696f6e54696d65223a22323032372d30332d30325430393a30303a30302e3030305a222c2263617465676f7279223a224f5448455253222c227461736b54797065223a2272656d696e64222c227175657565223a2264656661756c74222c227072696f72697479223a224e4f524d414c222c226d617852657472696573223a332c2274696d656f75744d73223a3330303030302c226f7665726c6170223a22736b6970222c226d697366697265223a226f6e6365222c22647374476170223a227368696674222c22647374466f6c64223a226669727374222c226a69747465724d73223a302c2264656c6976657279223a5b22574542225d2c227175657279506572457865637574696f6e223a312c22757365724964223a22616e6e222c226d65737361676573223a5b7b22726f6c65223a22617373697374616e74222c22636f6e74656e74223a224e657773227d5d2c22637265617465644174223a22323032372d30332d30315430393a30303a30302e3030305a222c22757064617465644174223a22323032372d30332d30325430393a30303a30302e3030305a222c226f70656e5374617274223a747275652c22637572736f72223a22323032372d30332d30325430393a30303a30302e3030305a222c226c61737452756e223a2230316131656534392d366264362d373030302d616134322d613733663837333034643039222c227a6f6e6556657273696f6e223a2d383935353636343631323535303039313134317d');
INSERT INTO public.record VALUES (2, '01a1ee49-6bd6-7000-aa42-a73f87304d09', '01a1ee49-5e86-7000-be39-e77a7f08ab0e', '\x616e6e', '\x30313830333937383030303030304030316131656534392d356538362d373030302d626533392d653737613766303861623065', 1838592000000, 1803978000000, 1, 2, '\x7b226964223a2230316131656534392d366264362d373030302d616134322d613733663837333034643039222c227363686564756c654964223a2230316131656534392d356538362d373030302d626533392d653737613766303861623065222c227461736b4964223a2230316131656534392d366264362d373030302d616134322d613733663837333034643039222c227363686564756c6564466f72223a22323032372d30332d30325430393a30303a30302e3030305a222c22637265617465644174223a22323032372d30332d30325430393a30303a30302e3030305a222c22737461727465644174223a22323032372d30332d30325430393a30303a30302e3030305a222c2266696e69736865644174223a22323032372d30332d30325430393a30303a30302e3030305a222c22737461747573223a2253554343455353222c22636f756e74223a312c22636f6e74656e74223a224e657773222c22757365724964223a22616e6e222c2271756572696573223a312c22746f6b656e73223a302c22697344656c697665726564223a747275652c2264656c69766572696573223a7b22574542223a7b22737461747573223a22434f4d504c45544544222c22617474656d707473223a312c227461736b4964223a2230316131656534392d366265632d373030302d396538342d633935616361313035353138227d7d2c2264656369646573223a66616c73652c2265787069726573223a22323032382d30342d30365430303a30303a30302e3030305a227d');
INSERT INTO public.record VALUES (4, '01a1ee49-6c20-7000-9034-fae9b162aac9', NULL, NULL, '\x7465616d2f333436', 0, 1803978000000, 0, 1, '\x7b2270726f6d7074223a227772697465206120626f6f6b222c227465616d6d61746573223a5b5d2c227461736b73223a5b7b226964223a2261222c227469746c65223a2241222c227461736b4964223a2230316131656534392d366332302d373030312d623461322d656564393939343363653865227d2c7b226964223a2262222c227469746c65223a2242222c22646570656e64734f6e223a5b2261225d2c227461736b4964223a2230316131656534392d366332302d373030322d616237322d643232373130373665646539227d5d2c226f6e5461736b4661696c757265223a226661696c222c2264656369646573223a66616c73652c22737461747573223a2272756e6e696e67222c22637265617465644174223a22323032372d30332d30325430393a30303a30302e3030305a222c227175657565223a227465616d2f333436227d');
INSERT INTO public.record VALUES (5, '01a1ee49-6c22-7000-bbdd-c188f57f4483', '01a1ee49-6c20-7000-9034-fae9b162aac9', NULL, NULL, 0, 1803978000000, 0, 1, '\x7b2266726f6d223a226131222c22746f223a226132222c22626f6479223a2268656c6c6f222c22637265617465644174223a22323032372d30332d30325430393a30303a30302e3030305a222c226e756d626572223a317d');
INSERT INTO public.tag VALUES ('\x61', '01a1ee49-6c02-7000-8794-69f82d3d02af');
INSERT INTO public.tag VALUES ('\xc3a9', '01a1ee49-6c02-7000-8794-69f82d3d02af');
INSERT INTO public.tag VALUES ('\x61', '01a1ee49-6c04-7000-9944-627fe142dd4b');
INSERT INTO public.tag VALUES ('\xc3a9', '01a1ee49-6c04-7000-9944-627fe142dd4b');
INSERT INTO public.task VALUES ('01a1ee49-6c02-7000-8794-69f82d3d02af', 'plain', 'default', NULL, NULL, false, 0, true, 2, 3, 0, 0, 3, 300000, 0, 1803978000000, 0, 1803978000000, false, 0, 0, NULL, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, DEFAULT);
INSERT INTO public.task VALUES ('01a1ee49-6c04-7000-9944-627fe142dd4b', 'plain', 'default', NULL, NULL, false, 0, true, 2, 3, 0, 0, 3, 300000, 0, 1803978000000, 0, 1803978000000, false, 0, 0, NULL, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, DEFAULT);
INSERT INTO public.task VALUES ('01a1ee49-6c05-7000-bddc-db0ee9199a40', 'later', 'default', NULL, NULL, false, 0, true, 0, 2, 0, 0, 3, 300000, 1803985200000, 0, 0, 1803978000000, false, 0, 0, NULL, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, DEFAULT);
INSERT INTO public.task VALUES ('01a1ee49-6c0c-7000-ae5a-e97daa6557fb', 'again', 'default', NULL, NULL, false, 0, true, 4, 2, 1, 1, 5, 300000, 1803985200000, 1803978000000, 1803978000000, 1803978000000, false, -252040337542079659, 2, '\x77', 60000, 0, 1803978000000, 23, 0, NULL, 40, '\x6f6e206974', NULL, NULL, NULL, '\x45', '\x6f6e6365206d6f7265', NULL, DEFAULT);
INSERT INTO public.task VALUES ('01a1ee49-6c17-7000-82bc-d21482428591', 'first', 'default', NULL, NULL, false, 0, true, 2, 2, 0, 0, 3, 300000, 0, 1803978000000, 0, 1803978000000, false, 0, 0, NULL, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, DEFAULT);
INSERT INTO public.task VALUES ('01a1ee49-6c18-7000-951f-ac77d987997a', 'second', 'default', NULL, NULL, false, 0, true, 1, 2, 0, 0, 3, 300000, 0, 0, 0, 1803978000000, false, 0, 0, NULL, 0, 0, 0, 0, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, DEFAULT);
INSERT INTO public.task VALUES ('01a1ee49-6c19-7000-bd6c-656f934a92d2', 'family', 'default', '\x626f6f6b', NULL, true, 0, true, 3, 2, 0, 0, 3, 300000, 0, 1803978000000, 1803978000000, 1803978000000, false, 0, 0, NULL, 0, 0, 0, 0, 0, NULL, 50, '\x31206f662032', NULL, NULL, NULL, NULL, NULL, NULL, DEFAULT);
INSERT INTO public.task VALUES ('01a1ee49-6c19-7002-a279-b3ae3e6d939b', 'two', 'default', '\x626f6f6b', '01a1ee49-6c19-7000-bd6c-656f934a92d2', false, 0, true, 2, 2, 0, 0, 3, 300000, 0, 1803978000000, 0, 1803978000000, false, 0, 0, NULL, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, DEFAULT);
INSERT INTO public.task VALUES ('01a1ee49-6c1f-7000-a7b8-5072d55ec1fd', 'waits', 'default', '\x626f6f6b', NULL, false, 0, true, 2, 2, 0, 0, 3, 300000, 0, 1803978000000, 0, 1803978000000, false, 0, 0, NULL, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, DEFAULT);
INSERT INTO public.task VALUES ('01a1ee49-6c20-7001-b4a2-eed99943ce8e', 'team.task', 'team/346', NULL, NULL, false, 0, true, 2, 2, 0, 0, 3, 3600000, 0, 1803978000000, 0, 1803978000000, false, 0, 0, NULL, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, DEFAULT);
INSERT INTO public.task VALUES ('01a1ee49-6c20-7002-ab72-d2271076ede9', 'team.task', 'team/346', NULL, NULL, false, 0, true, 1, 2, 0, 0, 3, 3600000, 0, 0, 0, 1803978000000, false, 0, 0, NULL, 0, 0, 0, 0, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, DEFAULT);
INSERT INTO public.task VALUES ('01a1ee49-6c23-7000-ac8f-889dec66e502', 'runs', 'default', '\x70616765', NULL, false, 0, true, 3, 2, 1, 0, 3, 300000, 0, 1803978000000, 1803978000000, 1803978000000, false, 7530421568226524003, 0, '\x77', 3600000, 1803978300000, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, DEFAULT);
INSERT INTO public.writer VALUES (743338940507978613, 1794999151191);
SELECT pg_catalog.setval('public.message_number_seq', 1, false);
SELECT pg_catalog.setval('public.token_number_seq', 1, false);
ALTER TABLE ONLY public.attempt
    ADD CONSTRAINT attempt_pkey PRIMARY KEY (id, number);
ALTER TABLE ONLY public.body
    ADD CONSTRAINT body_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.counter
    ADD CONSTRAINT counter_pkey PRIMARY KEY (node, queue);
ALTER TABLE ONLY public.dependency
    ADD CONSTRAINT dependency_pkey PRIMARY KEY (id, "on");
ALTER TABLE ONLY public.doc_lease
    ADD CONSTRAINT doc_lease_pkey PRIMARY KEY (document);
ALTER TABLE ONLY public.done
    ADD CONSTRAINT done_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.leader
    ADD CONSTRAINT leader_pkey PRIMARY KEY (one);
ALTER TABLE ONLY public.log
    ADD CONSTRAINT log_pkey PRIMARY KEY (id, number, until_byte);
ALTER TABLE ONLY public.mark
    ADD CONSTRAINT mark_pkey PRIMARY KEY (node);
ALTER TABLE ONLY public.message
    ADD CONSTRAINT message_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.meta
    ADD CONSTRAINT meta_pkey PRIMARY KEY (one);
ALTER TABLE ONLY public.node
    ADD CONSTRAINT node_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.queue
    ADD CONSTRAINT queue_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.record
    ADD CONSTRAINT record_pkey PRIMARY KEY (kind, id);
ALTER TABLE ONLY public.tag
    ADD CONSTRAINT tag_pkey PRIMARY KEY (tag, id);
ALTER TABLE ONLY public.task
    ADD CONSTRAINT task_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.token
    ADD CONSTRAINT token_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.writer
    ADD CONSTRAINT writer_pkey PRIMARY KEY (node);
CREATE INDEX body_document ON public.body USING btree (document, id) WHERE (document IS NOT NULL);
CREATE INDEX body_external ON public.body USING btree (external_id, id) WHERE (external_id IS NOT NULL);
CREATE UNIQUE INDEX body_key ON public.body USING btree (key) WHERE (key IS NOT NULL);
CREATE INDEX body_parent ON public.body USING btree (parent, id) WHERE (parent IS NOT NULL);
CREATE INDEX body_schedule ON public.body USING btree (schedule, id) WHERE (schedule IS NOT NULL);
CREATE INDEX body_team ON public.body USING btree (team, id) WHERE (team IS NOT NULL);
CREATE INDEX dependency_on ON public.dependency USING btree ("on", id);
CREATE INDEX doc_lease_batch ON public.doc_lease USING btree (holder) WHERE batch;
CREATE INDEX doc_lease_kept ON public.doc_lease USING btree (node) WHERE kept;
CREATE INDEX done_rare ON public.done USING btree (id) WHERE (state > 5);
CREATE INDEX record_due ON public.record USING btree (kind, due_ms, id) WHERE (due_ms > 0);
CREATE UNIQUE INDEX record_key ON public.record USING btree (kind, key) WHERE (key IS NOT NULL);
CREATE INDEX record_owner ON public.record USING btree (kind, owner, id) WHERE (owner IS NOT NULL);
CREATE INDEX record_parent ON public.record USING btree (kind, parent, id) WHERE (parent IS NOT NULL);
CREATE INDEX tag_id ON public.tag USING btree (id);
CREATE INDEX task_cancelled ON public.task USING btree (id) WHERE ((state = 3) AND cancel_requested);
CREATE INDEX task_document ON public.task USING btree (document, COALESCE(batch, '00000000-0000-0000-0000-000000000000'::uuid), queue, type, ((- priority)), queued_ms, id) WHERE ((state = 2) AND (NOT container) AND (document IS NOT NULL));
CREATE INDEX task_due ON public.task USING btree (due_ms, id) WHERE (due_ms IS NOT NULL);
CREATE INDEX task_held ON public.task USING btree (document) WHERE ((state = 3) AND (NOT container) AND (document IS NOT NULL));
CREATE INDEX task_line ON public.task USING btree (queue, type, ((- priority)), queued_ms, id) WHERE ((state = 2) AND offered AND (NOT container));
CREATE INDEX task_parked ON public.task USING btree (document, COALESCE(batch, '00000000-0000-0000-0000-000000000000'::uuid), queue, type, ((- priority)), queued_ms, id) WHERE ((state = 2) AND (NOT container) AND (NOT offered));
CREATE INDEX task_running ON public.task USING btree (queue) WHERE ((state = 3) AND (NOT container));
