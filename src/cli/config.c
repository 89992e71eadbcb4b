/* cli/config.c: how a server is set up. See config.h.
 *
 * wire/ini.h splits the lines; everything about their meaning is here.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/config.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/nearest.h"
#include "net/server.h"
#include "wire/ini.h"
#include "wire/redact.h"

#define AT(member) .at = offsetof(struct config, member)
#define TEXT       .rule = {.kind = VALUE_TEXT}
#define SIZE(low, high)                                                                            \
    .rule = {.kind = VALUE_SIZE, .least = (int64_t)(low), .most = (int64_t)(high)}
#define NUMBER(low, high)   .rule = {.kind = VALUE_NUMBER, .least = (low), .most = (high)}
#define DURATION(low, high) .rule = {.kind = VALUE_DURATION, .least = (low), .most = (high)}
#define TRUTH               .rule = {.kind = VALUE_BOOL}
#define CHOICE(words)       .rule = {.kind = VALUE_CHOICE, .choices = (words)}

const struct setting settings[] = {
    {"", "listen", "127.0.0.1:8001", TEXT, AT(listen),
     "address and port, port 0 picks a free one; or unix:PATH, a socket file; or both, with a "
     "comma"},
    {"", "data", "errand-data", TEXT, AT(data), "folder that holds everything"},
    {"", "store", NULL, TEXT, AT(store),
     "sqlite:PATH or postgres://…; default sqlite:errand.db in the data folder"},
    {"", "broker", "memory", TEXT, AT(broker),
     "redis://HOST:PORT, rediss:// for TLS, or memory; a fleet without Redis polls its store"},
    {"", "broker_high", NULL, TEXT, AT(broker_high), "for CRITICAL and HIGH tasks; default broker"},
    {"", "broker_low", NULL, TEXT, AT(broker_low), "for NORMAL and LOW tasks; default broker"},
    {"redis", "prefix", "errand:", TEXT, AT(redis_prefix), "of all keys in Redis"},
    {"redis", "cacert", NULL, TEXT, AT(redis_cacert),
     "authorities to trust for rediss://, PEM; default the system's"},
    {"redis", "cert", NULL, TEXT, AT(redis_cert),
     "certificate that we show to Redis, PEM; needs key"},
    {"redis", "key", NULL, TEXT, AT(redis_key), "its private key, PEM; needs cert"},
    {"retention", "finished", "30d", DURATION(0, 36500 * DAY_MS), AT(retention_finished_ms),
     "how long finished tasks are kept; 0 for ever"},
    {"retention", "executions", "400d", DURATION(0, 36500 * DAY_MS), AT(retention_executions_ms),
     "how long the history of schedules is kept; 0 for ever"},
    {"limits", "payload", "1MiB", SIZE(1, 64 * MIB), AT(limits_payload), "bytes of one payload"},
    {"limits", "request", "16MiB", SIZE(KIB, KIB *MIB), AT(limits_request), "bytes of one request"},
    {"limits", "connections", "12000", NUMBER(1, 1000000), AT(limits_connections),
     "open connections; beyond it 503"},
    {"limits", "waiting_claims", "10000", NUMBER(1, 1000000), AT(limits_waiting_claims),
     "claims that wait at once; beyond it 429"},
    {"limits", "queries_per_user_per_day", "0", NUMBER(0, INT64_C(1000000000)), AT(limits_queries),
     "questions to the model by one user's schedules; beyond it they pause until the next day, "
     "UTC, and runs by hand are refused; 0 for any number"},
    {"schedule", "min_lead", "5s", DURATION(0, DAY_MS), AT(schedule_min_lead_ms),
     "a single time nearer than this is refused"},
    {"schedule", "misfire_after", "60s", DURATION(0, 365 * DAY_MS), AT(schedule_misfire_ms),
     "a time that is late by more counts as missed"},
    {"schedule", "max_horizon", "30d", DURATION(MINUTE_MS, 3650 * DAY_MS), AT(schedule_horizon_ms),
     "times further ahead are planned again when it has passed"},
    {"workers", "count", "3", NUMBER(0, WORKERS_MAX), AT(workers_count),
     "workers inside the server; 0 runs nothing here"},
    {"workers", "queues", NULL, TEXT, AT(workers_queues),
     "queues they take from, comma separated; default all"},
    {"workers", "grace", "10s", DURATION(0, DAY_MS), AT(workers_grace_ms),
     "time between asking work to stop and taking it away"},
    {"push", "concurrency", "500", NUMBER(1, PUSH_CONCURRENCY_MAX), AT(push_concurrency),
     "requests to handlers' addresses under way at once"},
    {"push", "per_host", "50", NUMBER(1, PUSH_CONCURRENCY_MAX), AT(push_per_host),
     "of them to one host and port"},
    {"push", "allow_private", "no", TRUTH, AT(push_allow_private),
     "push to loopback and private networks too; never link-local"},
    {"cloudtasks", "google_limits", "no", TRUTH, AT(cloud_google_limits),
     "hold tasks of the Cloud Tasks API to 30 days ahead and 31 days of life"},
    {"cloudtasks", "tombstone", "24h", DURATION(0, 365 * DAY_MS), AT(cloud_tombstone_ms),
     "how long the name of such a task stays taken after its end"},
    {"llm", "base_url", NULL, TEXT, AT(llm_base_url),
     "a server that speaks OpenAI's chat completions: https://api.example.com/v1; default none"},
    {"llm", "model", NULL, TEXT, AT(llm_model), "which of its models; needed with base_url"},
    {"llm", "api_key_env", NULL, TEXT, AT(llm_key_env),
     "the environment variable that holds the key; default none"},
    {"llm", "api_key_file", NULL, TEXT, AT(llm_key_file), "or the file that holds it"},
    {"smtp", "url", NULL, TEXT, AT(smtp_url),
     "the server that takes our mails: smtp://HOST:PORT or smtps://HOST:PORT; default none"},
    {"smtp", "from", NULL, TEXT, AT(smtp_from), "the address they come from; needed with url"},
    {"smtp", "username", NULL, TEXT, AT(smtp_username), "who logs in there; default nobody"},
    {"smtp", "password_env", NULL, TEXT, AT(smtp_password_env),
     "the environment variable that holds the password"},
    {"smtp", "password_file", NULL, TEXT, AT(smtp_password_file), "or the file that holds it"},
    {"smtp", "starttls", "auto", CHOICE(STARTTLS_WORDS), AT(smtp_starttls),
     "encrypt: auto if the server can, yes or nothing is sent, no"},
    {"mobile", "secret", NULL, TEXT, AT(mobile_secret),
     "whsec_...: what goes to MOBILE is a signed webhook; default a plain text, as ntfy takes it"},
    {"execute", "secret", NULL, TEXT, AT(execute_secret),
     "with it outsiders fire schedules by POST /v1/tasks/execute; default nobody may"},
    {"tls", "cert", NULL, TEXT, AT(tls_cert), "certificate chain, PEM; needs key"},
    {"tls", "key", NULL, TEXT, AT(tls_key), "private key, PEM; needs cert"},
    {"faktory", "listen", NULL, TEXT, AT(faktory_listen),
     "where Faktory's work protocol is spoken, port 7419 unless named; default nowhere"},
    {"faktory", "password", NULL, TEXT, AT(faktory_password),
     "of its clients; a public address needs one; default none"},
    {"faktory", "tls", "auto", CHOICE(AUTO_WORDS), AT(faktory_tls),
     "with the certificate of [tls]: auto when there is one"},
    {"faktory", "line", "16MiB", SIZE(KIB, KIB *MIB), AT(faktory_line), "bytes of one command"},
    {"faktory", "connections", "5000", NUMBER(1, 1000000), AT(faktory_connections),
     "of its clients at once"},
    {"faktory", "flush", "auto", CHOICE(AUTO_WORDS), AT(faktory_flush),
     "whether FLUSH may remove all jobs: auto on a local address without a password"},
    {"http", "hosts", NULL, TEXT, AT(http_hosts),
     "names the server answers to besides local ones, comma separated"},
    {"http", "threads", "1", NUMBER(1, SERVER_LOOPS_MAX), AT(http_threads),
     "net loops, each with a thread, for machines with processors to spare"},
    {"redact", "keys", REDACT_DEFAULT, TEXT, AT(redact_keys),
     "names whose values the dashboard and tokens of role read do not see, comma separated"},
    {"otel", "endpoint", NULL, TEXT, AT(otel_endpoint),
     "where a span of each attempt is sent, by OTLP over HTTP: http://HOST:4318; default nowhere"},
    {"otel", "headers", NULL, TEXT, AT(otel_headers),
     "of these requests: NAME=VALUE, comma separated; default none"},
    {"otel", "service", "errand", TEXT, AT(otel_service), "service.name of the spans"},
    {"log", "level", "info", CHOICE("debug|info|warn|error"), AT(log_level), "least level to log"},
    {"log", "format", "text", CHOICE("text|json"), AT(log_format), "of a line of the log"},
};
const size_t settings_count = ARRAY_LEN(settings);

static_assert(ARRAY_LEN(settings) <= sizeof((struct config){0}.given), "one byte a setting");

/* ---- One setting ---- */

static const struct setting *find_setting(struct str section, struct str key)
{
    for (size_t i = 0; i < settings_count; i++) {
        if (str_is(section, settings[i].section) && str_is(key, settings[i].key)) {
            return &settings[i];
        }
    }
    return NULL;
}

static bool apply(struct config *config, const struct setting *setting, struct str value,
                  enum config_layer layer, struct err *err)
{
    struct str kept = arena_str(&config->arena, value);
    config->given[setting - settings] = (unsigned char)layer;
    return value_read(&setting->rule, kept, (char *)config + setting->at, err);
}

void config_init(struct config *config)
{
    *config = (struct config){.arena = ARENA_INIT};
    for (size_t i = 0; i < settings_count; i++) {
        if (settings[i].fallback != NULL) {
            bool ok =
                apply(config, &settings[i], str_of(settings[i].fallback), CONFIG_DEFAULT, NULL);
            assert(ok); /* the table is ours */
            (void)ok;
        }
    }
}

void config_fini(struct config *config)
{
    arena_fini(&config->arena);
}

/* ---- The file ---- */

static bool is_section(struct str section)
{
    for (size_t i = 0; i < settings_count; i++) {
        if (str_is(section, settings[i].section)) {
            return true;
        }
    }
    return false;
}

static bool refuse_section(struct str section, struct err *err)
{
    SCOPED(buf_fini) struct buf known = BUF_INIT(KIB);
    struct nearest nearest = nearest_begin(section);
    const char *last = "";
    for (size_t i = 0; i < settings_count; i++) {
        nearest_offer(&nearest, str_of(settings[i].section));
        if (strcmp(last, settings[i].section) != 0) {
            last = settings[i].section;
            buf_printf(&known, "%s%s", known.len > 0 ? ", " : "", last);
        }
    }
    if (!str_absent(nearest.best)) {
        return err_set(err, ERR_INVALID,
                       "[" STR_FMT "] is not a section; did you mean [" STR_FMT "]?",
                       STR_ARG(section), STR_ARG(nearest.best));
    }
    return err_set(err, ERR_INVALID, "[" STR_FMT "] is not a section; there are %s",
                   STR_ARG(section), buf_c_text(&known));
}

static bool refuse_key(const char *label, const struct ini_pair *pair, struct err *err)
{
    SCOPED(buf_fini) struct buf known = BUF_INIT(KIB);
    struct nearest nearest = nearest_begin(pair->key);
    for (size_t i = 0; i < settings_count; i++) {
        if (str_is(pair->section, settings[i].section)) {
            nearest_offer(&nearest, str_of(settings[i].key));
            buf_printf(&known, "%s%s", known.len > 0 ? ", " : "", settings[i].key);
        }
    }
    if (!str_absent(nearest.best)) {
        return err_set(err, ERR_INVALID, "%s is not a setting; did you mean " STR_FMT "?", label,
                       STR_ARG(nearest.best));
    }
    return err_set(err, ERR_INVALID, "%s is not a setting; there are %s", label,
                   buf_c_text(&known));
}

static bool take_pair(struct config *config, struct str folder, const struct ini_pair *pair,
                      struct err *err)
{
    bool top = pair->section.len == 0;
    const char *label = arena_printf(&config->arena, "%s" STR_FMT "%s" STR_FMT, top ? "" : "[",
                                     STR_ARG(pair->section), top ? "" : "] ", STR_ARG(pair->key))
                            .ptr;
    if (handlers_is_section(pair->section)) {
        return handlers_take(&config->handlers, &config->arena, folder, pair, err) ||
               err_wrap(err, "%s", label);
    }
    if (!is_section(pair->section)) {
        return refuse_section(pair->section, err);
    }
    const struct setting *setting = find_setting(pair->section, pair->key);
    if (setting == NULL) {
        return refuse_key(label, pair, err);
    }
    if (config->given[setting - settings] == CONFIG_FILE) {
        return err_set(err, ERR_INVALID, "%s is given twice", label);
    }
    return apply(config, setting, ini_unquote(&config->arena, pair->value), CONFIG_FILE, err) ||
           err_wrap(err, "%s", label);
}

/* Commands are relative to the file that names them, wherever the server is started. */
static struct str folder_of(struct config *config, const char *name)
{
    char whole[PATH_MAX];
    const char *slash = strrchr(name, '/');
    struct str folder = slash == NULL ? STR(".") : (struct str){name, (size_t)(slash - name)};
    const char *found =
        realpath(folder.len == 0 ? "/" : arena_c_text(&config->arena, folder), whole);
    return arena_str(&config->arena, found == NULL ? folder : str_of(found));
}

bool config_read(struct config *config, const char *name, struct str text, struct err *err)
{
    struct str folder = folder_of(config, name);
    struct ini ini = ini_open(text);
    struct ini_pair pair;
    struct err wrong = ERR_INIT;
    while (ini_next(&ini, &pair, &wrong) && take_pair(config, folder, &pair, &wrong)) {
    }
    if (wrong.kind != ERR_NONE) {
        return err_set(err, ERR_INVALID, "%s:%d: %s", name, ini.line, wrong.text);
    }
    return handlers_check(&config->handlers, err) || err_wrap(err, "%s", name);
}

static void close_at(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
    }
}

bool config_load(struct config *config, const char *path, struct err *err)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(CONFIG_FILE_MAX + 1);
    SCOPED(close_at) int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return err_set(err, ERR_INVALID, "%s: %s", path, strerror(errno));
    }
    for (;;) {
        char *room = buf_room(&text, 4 * KIB);
        ssize_t got = room == NULL ? 0 : read(fd, room, 4 * KIB);
        if (got < 0) {
            return err_set(err, ERR_INVALID, "%s: %s", path, strerror(errno));
        }
        if (got == 0) {
            break;
        }
        buf_used(&text, (size_t)got);
    }
    return text.full ? err_set(err, ERR_INVALID, "%s: longer than 1MiB", path)
                     : config_read(config, path, buf_view(&text), err);
}

/* ---- The environment and flags ---- */

void config_variable(const struct setting *setting, char out[CONFIG_NAME_MAX])
{
    int len = snprintf(out, CONFIG_NAME_MAX, "ERRAND_%s%s%s", setting->section,
                       setting->section[0] ? "_" : "", setting->key);
    for (int i = 0; i < len; i++) {
        out[i] = (char)toupper((unsigned char)out[i]);
    }
}

bool config_environment(struct config *config, const char *(*get)(const char *name),
                        struct err *err)
{
    char name[CONFIG_NAME_MAX];
    for (size_t i = 0; i < settings_count; i++) {
        config_variable(&settings[i], name);
        const char *value = get(name);
        if (value != NULL && !apply(config, &settings[i], str_of(value), CONFIG_ENVIRONMENT, err)) {
            return err_wrap(err, "%s", name);
        }
    }
    return true;
}

bool config_flag(struct config *config, const char *section, const char *key, struct str value,
                 struct err *err)
{
    const struct setting *setting = find_setting(str_of(section), str_of(key));
    assert(setting != NULL);
    return str_absent(value) || apply(config, setting, value, CONFIG_FLAG, err) ||
           err_wrap(err, "--%s%s%s", section, section[0] ? "-" : "", key);
}
