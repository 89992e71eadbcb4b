/* cli/config.h: how a server is set up: built-in defaults, then errand.conf, then the environment,
 * then flags; the later wins.
 *
 * Every setting is one row of the table in config.c. What is not in the table is an error that says
 * where it stands and what would be right: a misspelt limit must not be a limit that is not there.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLI_CONFIG_H
#define ERRAND_CLI_CONFIG_H

#include "base/arena.h"
#include "cli/handlers.h"
#include "cli/value.h"

#define CONFIG_FILE_MAX MIB /* a longer file is not a configuration */

struct config {
    struct str listen, data;
    struct str store, broker; /* absent: SQLite in the data folder; in memory */
    struct str redis_prefix;
    struct str redis_cacert, redis_cert, redis_key; /* of rediss:// */
    struct str broker_high, broker_low;             /* absent: `broker` serves all */
    int64_t retention_finished_ms;                  /* 0: for ever */
    int64_t limits_payload, limits_request;
    int64_t limits_connections, limits_waiting_claims;
    int64_t workers_grace_ms, workers_count;
    int64_t retention_executions_ms;
    int64_t schedule_min_lead_ms, schedule_misfire_ms, schedule_horizon_ms;
    struct str workers_queues; /* comma list; absent: every queue */
    struct handlers handlers;
    int64_t push_concurrency, push_per_host;
    bool push_allow_private;
    bool cloud_google_limits;
    int64_t cloud_tombstone_ms;
    struct str llm_base_url, llm_model; /* absent: no language model */
    struct str llm_key_env, llm_key_file;
    struct str smtp_url, smtp_from; /* absent: no mails */
    struct str smtp_username, smtp_password_env, smtp_password_file;
    int64_t smtp_starttls;        /* one of STARTTLS_WORDS */
    struct str mobile_secret;     /* absent: messages to MOBILE are plain and unsigned */
    struct str execute_secret;    /* absent: nobody outside may fire schedules */
    int64_t limits_queries;       /* of one user in one day, UTC; 0: any number */
    struct str tls_cert, tls_key; /* absent: plain HTTP */
    struct str faktory_listen, faktory_password; /* absent: not spoken; anybody may come in */
    int64_t faktory_tls, faktory_flush;          /* one of AUTO_WORDS */
    int64_t faktory_line, faktory_connections;
    int64_t http_threads;
    struct str http_hosts;  /* comma list of allowed Host names; absent: local ones only */
    struct str redact_keys; /* comma list */
    struct str otel_endpoint, otel_headers, otel_service; /* endpoint absent: no spans are sent */
    int64_t log_level;                                    /* enum log_level */
    int64_t log_format;                                   /* enum log_format */

    struct config *replaced; /* what was read before, by reload.c; NULL: nothing */
    struct arena arena;      /* holds the texts */
    unsigned char given[96]; /* by row: which layer set it; CONFIG_DEFAULT … CONFIG_FLAG */
};

/* What people write, in this order. */
#define STARTTLS_WORDS "auto|yes|no|true|false|on|off|required|none"

#define AUTO_WORDS "auto|yes|no|true|false|on|off" /* auto: what fits; yes, true and on are odd */

enum config_layer { CONFIG_DEFAULT, CONFIG_FILE, CONFIG_ENVIRONMENT, CONFIG_FLAG };

struct setting {
    const char *section; /* "" at the top level */
    const char *key;
    const char *fallback; /* as a file would say it; NULL: absent */
    struct value_rule rule;
    size_t at;
    const char *help;
};

extern const struct setting settings[];
extern const size_t settings_count;

void config_init(struct config *config); /* all defaults */
void config_fini(struct config *config);

/* Reads the text of a file; `name` is how messages call it: "errand.conf:12: …". */
MUST_CHECK bool config_read(struct config *config, const char *name, struct str text,
                            struct err *err);
/* Reads the file at `path`. */
MUST_CHECK bool config_load(struct config *config, const char *path, struct err *err);

/* Reads ERRAND_LISTEN, ERRAND_LIMITS_PAYLOAD, … through `get` (getenv, or a test's own). */
MUST_CHECK bool config_environment(struct config *config, const char *(*get)(const char *name),
                                   struct err *err);

/* What a flag of that setting said; an absent value changes nothing. */
MUST_CHECK bool config_flag(struct config *config, const char *section, const char *key,
                            struct str value, struct err *err);

/* The name of a setting in the environment: ERRAND_SECTION_KEY. */
#define CONFIG_NAME_MAX 64
void config_variable(const struct setting *setting, char out[CONFIG_NAME_MAX]);

#endif
