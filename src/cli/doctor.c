/* cli/doctor.c: `errand doctor`: looks at everything a server needs, and changes nothing.
 *
 * Each check is one row of the table and says what it found: ok, warn (works, but look at it) or
 * FAIL (will not work, or is already wrong).
 *
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/human.h"
#include "cli/node.h"
#include "cli/remote.h"
#include "cli/services.h"
#include "cli/setup.h"
#include "cli/token.h"
#include "cli/verb.h"
#include "client/redis.h"
#include "client/tls.h"
#include "wire/time.h"
#include "wire/uri.h"

#define FINDINGS_MAX 20 /* violations of the store that are shown one by one */
#define COMPARE_PAUSE_MS                                                                           \
    1500 /* between two looks at documents: no claim takes so long to commit                       \
          */
#define DISK_FAIL      (16 * MIB)
#define DISK_WARN      (1024 * MIB)
#define FILES_BESIDE   64                     /* descriptors besides connections */
#define CLOCK_LEAST_MS INT64_C(1704067200000) /* 2024: before that a clock was never set */
#define CLOCK_MOST_MS  INT64_C(4102444800000) /* 2100 */
#define CLOCK_APART_MS (2 * SECOND_MS)        /* from the server's */
#define CLOCK_TRIPS    3                      /* to the store, until one is short enough */
#define PROBE_MS       (3 * SECOND_MS)

enum { HTTP_UNAUTHORIZED = 401, HTTP_FORBIDDEN = 403 };

struct doctor_options {
    struct remote_options remote;
    struct setup_options setup;
};

struct doctor {
    const struct doctor_options *options;
    struct config config;
    struct remote remote;
    struct paper paper;
    struct buf json; /* with --json: the array so far */
    struct json_writer writer;
    bool failed;
};

/* ---- Saying ---- */

static void say(struct doctor *doctor, const char *status, const char *check, const char *format,
                ...) PRINTF_LIKE(4, 5);

static void say(struct doctor *doctor, const char *status, const char *check, const char *format,
                ...)
{
    char text[512];
    SCOPED(buf_fini) struct buf clean = BUF_INIT(4 * KIB);
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    doctor->failed = doctor->failed || strcmp(status, "FAIL") == 0;
    if (doctor->options->remote.json) {
        json_open_object(&doctor->writer);
        json_put_c(&doctor->writer, "check", check);
        json_put_c(&doctor->writer, "status", status);
        json_put_c(&doctor->writer, "message", text);
        json_close_object(&doctor->writer);
        return;
    }
    human_clean(&clean, str_of(text));
    const char *colour = human_colour(&doctor->paper, str_of(status));
    printf("%s%-4s%s  %-8s  %s\n", colour, status, colour[0] ? human_plain(&doctor->paper) : "",
           check, buf_c_text(&clean));
}

/* ---- Checks ---- */

static void check_config(struct doctor *doctor)
{
    struct str file = setup_file(&doctor->options->setup);
    struct str store;
    struct broker_options broker;
    struct err err = ERR_INIT;
    if (!setup_store(&doctor->config, &store, &err) ||
        !setup_broker(&doctor->config, &broker, &err)) {
        say(doctor, "FAIL", "config", "%s", err.text);
        return;
    }
    say(doctor, "ok", "config", "%s", str_absent(file) ? "no errand.conf: defaults" : file.ptr);
}

static void check_folder(struct doctor *doctor)
{
    const char *folder = doctor->config.data.ptr;
    struct stat found;
    if (stat(folder, &found) != 0 && errno == ENOENT) {
        say(doctor, "warn", "data", "%s is not there yet; errand serve makes it", folder);
    } else if (access(folder, R_OK | W_OK | X_OK) != 0) {
        say(doctor, "FAIL", "data", "%s: %s", folder, strerror(errno));
    } else if (!S_ISDIR(found.st_mode)) {
        say(doctor, "FAIL", "data", "%s is not a folder", folder);
    } else if ((found.st_mode & 077) != 0) {
        say(doctor, "warn", "data", "%s can be entered by others; chmod 700 is enough", folder);
    } else {
        say(doctor, "ok", "data", "%s is writable", folder);
    }
}

static void check_disk(struct doctor *doctor)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(KIB);
    struct statvfs disk;
    if (statvfs(doctor->config.data.ptr, &disk) != 0 && statvfs(".", &disk) != 0) {
        say(doctor, "warn", "disk", "its free space is not known: %s", strerror(errno));
        return;
    }
    uint64_t left = (uint64_t)disk.f_bavail * disk.f_frsize;
    human_bytes(&text, (int64_t)left);
    const char *status = left < DISK_FAIL ? "FAIL" : left < DISK_WARN ? "warn" : "ok";
    say(doctor, status, "disk", "%s left", buf_c_text(&text));
}

static void client_close_at(struct client **client)
{
    client_close(*client);
}

struct findings {
    struct doctor *doctor;
    size_t count;
};

static void on_finding(void *arg, const char *invariant, const char *sentence)
{
    struct findings *findings = arg;
    if (findings->count++ < FINDINGS_MAX) {
        say(findings->doctor, "FAIL", "store", "%s: %s", invariant, sentence);
    }
}

static bool is_there(struct str url)
{
    struct str path = str_from(url, strlen("sqlite:"));
    return !str_starts(url, STR("sqlite:")) || access(path.ptr, F_OK) == 0;
}

/* Without the password that an address may hold. */
static const char *shown(struct doctor *doctor, struct str url)
{
    struct str rest = url, scheme = str_cut(&rest, '@');
    const char *colon =
        str_absent(rest) ? NULL : strrchr(arena_c_text(&doctor->config.arena, scheme), ':');
    if (colon == NULL || colon[1] == '/') {
        return arena_c_text(&doctor->config.arena, url);
    }
    const char *head = arena_c_text(&doctor->config.arena, scheme);
    int kept = (int)(strrchr(head, ':') - head);
    return arena_printf(&doctor->config.arena, "%.*s@" STR_FMT, kept, head, STR_ARG(rest)).ptr;
}

static void check_store(struct doctor *doctor)
{
    struct findings findings = {.doctor = doctor};
    struct store *store = NULL;
    struct err err = ERR_INIT;
    struct str url;
    if (!setup_store(&doctor->config, &url, NULL)) {
        return; /* said by check_config() */
    }
    url = str_of(arena_c_text(&doctor->config.arena, url));
    if (!is_there(url)) {
        say(doctor, "ok", "store", "%s: nothing is stored yet", shown(doctor, url));
        return;
    }
    const struct store_options options = {.url = url, .no_migrate = true, .read_only = true};
    if (!store_open(&options, &store, &err) || !store_check(store, on_finding, &findings, &err)) {
        say(doctor, "FAIL", "store", "%s", err.text);
    } else if (findings.count == 0) {
        say(doctor, "ok", "store", "%s: every invariant holds", shown(doctor, url));
    } else {
        say(doctor, "FAIL", "store", "%zu violations", findings.count);
    }
    store_close(store);
}

static void check_redis(struct doctor *doctor, const struct broker_options *broker, struct str url)
{
    struct err err = ERR_INIT;
    struct redis *redis = NULL;
    const struct redis_options options = {.url = url, .tls = broker->tls};
    if (!str_starts(url, STR("redis"))) { /* or rediss:// */
        return;
    }
    if (!redis_open(&options, &redis, &err)) {
        say(doctor, "FAIL", "broker", "%s", err.text);
    } else if (!redis_wait(redis, REDIS_CONNECT_MS)) {
        say(doctor, "warn", "broker", "%s does not answer: nodes ask the store, at most 1 s apart",
            shown(doctor, url));
    } else {
        say(doctor, "ok", "broker", "%s answers", shown(doctor, url));
    }
    redis_close(redis);
}

static void broker_close_at(struct broker **broker)
{
    broker_close(*broker);
}

/* Whether `one` is among what another look found, too. */
static bool found_again(const struct fleet_difference *one, const struct fleet_difference *all,
                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (str_eq(all[i].document, one->document) && all[i].in_store == one->in_store &&
            all[i].in_broker == one->in_broker) {
            return true;
        }
    }
    return false;
}

/* Documents are held in the broker as the rows say, but for those that move this very moment: what
 * differs is looked at twice. */
static void compare_documents(struct doctor *doctor, const struct broker_options *options)
{
    SCOPED(token_place_fini) struct token_place place = {0};
    SCOPED(broker_close_at) struct broker *broker = NULL;
    struct arena *arena = &doctor->config.arena;
    struct fleet_difference *first, *second = NULL;
    size_t first_count = 0, second_count = 0, wrong = 0;
    struct err err = ERR_INIT;
    if (!token_place_open(&place, &doctor->config, false, &err) || place.steward == NULL ||
        !broker_open(options, &broker, &err) ||
        broker_check(broker) != BROKER_DOUBTED) { /* it lacks hints, and says so to its nodes */
        return;
    }
    if (!fleet_compare(place.steward, broker, arena, &first, &first_count, &err)) {
        return; /* check_store() has said why */
    }
    if (first_count > 0) {
        poll(NULL, 0, COMPARE_PAUSE_MS);
        if (!fleet_compare(place.steward, broker, arena, &second, &second_count, &err)) {
            return;
        }
    }
    for (size_t i = 0; i < first_count; i++) {
        if (found_again(&first[i], second, second_count) && wrong++ < FINDINGS_MAX) {
            say(doctor, "warn", "broker", "document " STR_FMT " is held %s",
                STR_ARG(first[i].document),
                !first[i].in_broker  ? "in the store and not in Redis"
                : !first[i].in_store ? "in Redis and not in the store"
                                     : "in the store and in Redis by different tasks");
        }
    }
    if (wrong == 0) {
        say(doctor, "ok", "broker", "documents are held as in the store");
    } else {
        say(doctor, "warn", "broker", "%zu differ; the leader's walk mends it in some seconds",
            wrong);
    }
}

static void check_broker(struct doctor *doctor)
{
    struct broker_options broker;
    if (setup_broker(&doctor->config, &broker, NULL)) {
        check_redis(doctor, &broker, broker.url);
        check_redis(doctor, &broker, broker.low_url);
        if (str_starts(broker.url, STR("redis"))) {
            compare_documents(doctor, &broker);
        }
    }
}

static void check_tokens(struct doctor *doctor)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    SCOPED(token_place_fini) struct token_place place = {0};
    struct token_list list = {0};
    struct str address, socket, host;
    uint16_t port;
    bool public = !node_listens(doctor->config.listen, &address, &socket, NULL) ||
                  (!str_absent(address) &&
                   (!uri_parse_address(address, 0, &host, &port, NULL) || !node_is_loopback(host)));
    if (!token_place_open(&place, &doctor->config, false, &err) ||
        !token_place_list(&place, &arena, &list, &err)) {
        say(doctor, "FAIL", "tokens", "%s", err.text);
    } else if (list.count == 0 && public) {
        say(doctor, "FAIL", "tokens", "none, and %s is not loopback: errand token create",
            doctor->config.listen.ptr);
    } else if (list.count == 0) {
        say(doctor, "ok", "tokens", "none: everybody on this machine may do everything");
    } else {
        say(doctor, "ok", "tokens", "%zu", list.count);
    }
}

static void check_tls(struct doctor *doctor)
{
    const struct config *config = &doctor->config;
    struct tls_context *context = NULL;
    struct err err = ERR_INIT;
    if (str_absent(config->tls_cert) && str_absent(config->tls_key)) {
        say(doctor, "ok", "tls", "off");
    } else if (str_absent(config->tls_cert) || str_absent(config->tls_key)) {
        say(doctor, "FAIL", "tls", "cert and key belong together");
    } else if (!tls_context_open(config->tls_cert.ptr, config->tls_key.ptr, &context, &err)) {
        say(doctor, "FAIL", "tls", "%s", err.text);
    } else {
        say(doctor, "ok", "tls", "%s", config->tls_cert.ptr);
    }
    tls_context_close(context);
}

static void check_files(struct doctor *doctor)
{
    struct rlimit limit;
    uint64_t wanted = (uint64_t)doctor->config.limits_connections + FILES_BESIDE;
    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < wanted) {
        say(doctor, "warn", "files",
            "at most %llu descriptors, %llu are needed for %lld connections",
            (unsigned long long)limit.rlim_max, (unsigned long long)wanted,
            (long long)doctor->config.limits_connections);
    } else {
        say(doctor, "ok", "files", "enough descriptors for %lld connections",
            (long long)doctor->config.limits_connections);
    }
}

/* The first trip connects and may take too long to compare anything. */
static bool ask_store_clock(const struct token_place *place, struct fleet_clock *clock)
{
    struct err err = ERR_INIT;
    int64_t now_ms;
    for (int i = 0; i < CLOCK_TRIPS && !clock->known; i++) {
        if (!fleet_clock_ask(place->steward, clock, &now_ms, &err)) {
            return false;
        }
    }
    return clock->known;
}

/* Nodes that share a store must agree with it about the time. */
static void check_store_clock(struct doctor *doctor)
{
    SCOPED(token_place_fini) struct token_place place = {0};
    struct fleet_clock clock = {0};
    struct err err = ERR_INIT;
    if (!token_place_open(&place, &doctor->config, false, &err) || place.steward == NULL ||
        !ask_store_clock(&place, &clock)) {
        return; /* check_store() has said why, or it is an embedded one */
    }
    say(doctor, clock.off ? "warn" : "ok", "clock", "%lld ms ahead of the store's%s",
        (long long)clock.offset_ms, clock.off ? ": synchronize it" : "");
}

static void check_clock(struct doctor *doctor)
{
    int64_t now_ms = clock_real_wall_ms();
    char text[TIME_TEXT_LEN + 1];
    time_text(now_ms, text);
    bool sane = now_ms > CLOCK_LEAST_MS && now_ms < CLOCK_MOST_MS;
    say(doctor, sane ? "ok" : "FAIL", "clock", sane ? "%s" : "%s cannot be right", text);
    check_store_clock(doctor);
}

/* A server with --test-clock tells another time, and means it: a warning only. */
static void compare_clock(struct doctor *doctor)
{
    struct client_answer answer;
    const struct client_call call = {
        .method = "GET", .path = STR("/api/stats"), .limit_ms = PROBE_MS};
    struct arena *arena = &doctor->remote.arena;
    struct err err = ERR_INIT;
    int64_t then_ms, now_ms = clock_real_wall_ms();
    if (!remote_call_whole(&doctor->remote, &call, &answer, &err)) {
        say(doctor, "warn", "server", "it answers, but not to us: %s", err.text);
        return;
    }
    struct str now = json_find_str(answer.body, "now", arena);
    if (!str_absent(now) && time_parse(now, &then_ms, NULL) &&
        (then_ms > now_ms + CLOCK_APART_MS || then_ms < now_ms - CLOCK_APART_MS)) {
        say(doctor, "warn", "server", "its clock says " STR_FMT, STR_ARG(now));
    }
}

static void check_server(struct doctor *doctor)
{
    struct client_answer answer;
    const struct client_call call = {
        .method = "GET", .path = STR("/healthz"), .limit_ms = PROBE_MS};
    struct err err = ERR_INIT;
    if (!remote_open(&doctor->remote, &doctor->options->remote, &err)) {
        say(doctor, "FAIL", "server", "%s", err.text);
        return;
    }
    if (!remote_call_whole(&doctor->remote, &call, &answer, &err)) {
        say(doctor, "warn", "server", "nobody answers: %s", err.text);
        return;
    }
    struct str status = json_find_str(answer.body, "status", &doctor->remote.arena);
    bool fine = str_is(status, "ok");
    say(doctor, fine ? "ok" : "warn", "server", "it answers: " STR_FMT,
        STR_ARG(fine ? status : answer.body));
    compare_clock(doctor);
}

/* Asks for the list of models: it costs nothing, and whoever has no such list answers all the same.
 */
static void check_llm(struct doctor *doctor, const struct services *services)
{
    SCOPED(client_close_at) struct client *client = NULL;
    const struct client_options options = {.url = services->llm.base_url,
                                           .token = services->llm.api_key};
    const struct client_call call = {.method = "GET", .path = STR("/models"), .limit_ms = PROBE_MS};
    struct client_answer answer;
    struct err err = ERR_INIT;
    if (!services->has_llm) {
        say(doctor, "ok", "llm", "none: the built-in grammar reads texts, reminders need no model");
    } else if (!client_open(&options, &client, &err) ||
               !client_call(client, &call, &doctor->config.arena, &answer, &err)) {
        say(doctor, "FAIL", "llm", "%s", err.text);
    } else if (answer.status == HTTP_UNAUTHORIZED || answer.status == HTTP_FORBIDDEN) {
        say(doctor, "FAIL", "llm", "it answers, but does not take our key: status %d",
            answer.status);
    } else {
        say(doctor, "ok", "llm", "it answers; questions go to " STR_FMT,
            STR_ARG(services->llm.model));
    }
}

static void check_smtp(struct doctor *doctor, const struct services *services)
{
    struct mailer *mailer = NULL;
    struct mailer_options options = services->smtp;
    struct err err = ERR_INIT;
    options.connect_ms = options.total_ms = PROBE_MS;
    if (!services->has_smtp) {
        say(doctor, "ok", "smtp", "none: nothing can be delivered by EMAIL");
    } else if (!mailer_open(&options, &mailer, &err) || !mailer_probe(mailer, &err)) {
        say(doctor, "FAIL", "smtp", "%s", err.text);
    } else {
        say(doctor, "ok", "smtp", "it answers; mails come from " STR_FMT,
            STR_ARG(services->mail_from));
    }
    mailer_close(mailer);
}

static void check_services(struct doctor *doctor)
{
    struct services services;
    struct err err = ERR_INIT;
    if (!services_read(&doctor->config, &services, &err)) {
        say(doctor, "FAIL", "services", "%s", err.text);
        return;
    }
    check_llm(doctor, &services);
    check_smtp(doctor, &services);
}

static void (*const checks[])(struct doctor *doctor) = {
    check_config, check_folder,   check_disk,  check_store, check_tokens, check_broker,
    check_tls,    check_services, check_files, check_clock, check_server,
};

/* ---- The verb ---- */

static void check_all(struct doctor *doctor)
{
    struct err err = ERR_INIT;
    if (!setup_config(&doctor->options->setup, &doctor->config, &err)) {
        say(doctor, "FAIL", "config", "%s", err.text); /* the others need it */
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        checks[i](doctor);
    }
}

static enum exit_status run_doctor(const void *options, const struct words *words)
{
    struct doctor doctor = {.options = options,
                            .config = {.arena = ARENA_INIT},
                            .remote = {.client = NULL},
                            .paper = paper_stdout(),
                            .json = BUF_INIT(MIB)};
    (void)words;
    doctor.writer = JSON_WRITER(&doctor.json);
    json_open_array(&doctor.writer);
    check_all(&doctor);
    json_close_array(&doctor.writer);
    if (doctor.options->remote.json) {
        puts(buf_c_text(&doctor.json));
    }
    remote_close(&doctor.remote);
    config_fini(&doctor.config);
    buf_fini(&doctor.json);
    return doctor.failed ? EXIT_FAILED : EXIT_OK;
}

static const struct option doctor_options[] = {
    SETUP_OPTIONS(struct doctor_options),
    REMOTE_OPTIONS(struct doctor_options),
    OPTION_END,
};

const struct verb doctor_verb = {
    .name = "doctor",
    .arguments = "",
    .summary = "check settings, data and server",
    .about =
        "Checks what a server needs and prints one line for each: the settings, the data\n"
        "folder, the disk, every invariant of the store, tokens, TLS, whether the language\n"
        "model and the mail server answer, descriptors, the clock, and whether a server\n"
        "answers. It changes nothing and may run beside a server. The exit status is 1 if one\n"
        "of them says FAIL.",
    .examples = "# the server of this machine\nerrand doctor --data /var/lib/errand\n"
                "# is this file right?\nerrand doctor --config errand.conf",
    .options = doctor_options,
    .size = sizeof(struct doctor_options),
    .run = run_doctor,
};
