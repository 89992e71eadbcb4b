/* cli/serve.c: `errand serve`: reads the settings, runs a node, says when it is ready.
 *
 * SPDX-License-Identifier: MIT */
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"
#include "cli/move.h"
#include "cli/node.h"
#include "cli/setup.h"
#include "cli/systemd.h"
#include "cli/verb.h"
#include "wire/time.h"

#define ARENAS_MAX  2   /* of malloc: one for each thread costs megabytes; net loops need theirs */
#define STACK_BYTES MIB /* of a thread; the default of 8 MiB frightens container limits */

struct serve {
    struct setup_options setup;
    struct option_many listen;
    struct str broker, tls_cert, tls_key, faktory;
    struct str workers;
    struct option_many handlers;
    bool insecure, no_migrate;
    struct option_maybe test_clock;
};

/* An address and a socket file are one setting. */
static struct str join_listen(const struct serve *serve, struct arena *arena)
{
    struct str all = serve->listen.count == 0 ? STR_NONE : serve->listen.at[0];
    for (size_t i = 1; i < serve->listen.count; i++) {
        all = arena_printf(arena, STR_FMT "," STR_FMT, STR_ARG(all), STR_ARG(serve->listen.at[i]));
    }
    return all;
}

/* What was typed becomes settings, and what is no setting the node's options. */
static bool read_settings(void *arg, struct config *config, struct err *err)
{
    const struct serve *serve = arg;
    return setup_config(&serve->setup, config, err) &&
           config_flag(config, "", "listen", join_listen(serve, &config->arena), err) &&
           config_flag(config, "", "broker", serve->broker, err) &&
           config_flag(config, "workers", "count", serve->workers, err) &&
           config_flag(config, "faktory", "listen", serve->faktory, err) &&
           config_flag(config, "tls", "cert", serve->tls_cert, err) &&
           config_flag(config, "tls", "key", serve->tls_key, err);
}

static bool read_options(struct serve *serve, struct config *config, struct node_options *out,
                         struct err *err)
{
    *out = (struct node_options){
        .insecure = serve->insecure,
        .no_migrate = serve->no_migrate,
        .test_clock = serve->test_clock.given,
        .test_clock_ms = clock_real_wall_ms(),
        .reread = read_settings,
        .reread_arg = serve,
    };
    return read_settings(serve, config, err) &&
           (str_absent(serve->test_clock.value) ||
            time_parse(serve->test_clock.value, &out->test_clock_ms, err) ||
            err_wrap(err, "--test-clock"));
}

/* Small from the start: what a process never asks for it need not give back. */
static void stay_small(int64_t net_loops)
{
    pthread_attr_t attributes;
    mallopt(M_ARENA_MAX, ARENAS_MAX + (int)net_loops - 1);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
}

/* One line that says what runs here. Addresses of stores may hold passwords: their kinds suffice.
 */
static void log_start(const struct node *node, struct str file)
{
    const struct config *config = node->config;
    struct str store = str_absent(config->store) ? STR("sqlite") : config->store;
    struct str broker = node->broker_options.url;
    const char *scheme = str_absent(config->tls_cert) ? "http" : "https";
    struct str dashboard = str_absent(node->address)
                               ? STR("none")
                               : arena_printf(&node->config->arena, "%s://" STR_FMT "/", scheme,
                                              STR_ARG(node->auth.listen));
    const struct log_fact facts[] = {
        {"version", STR(ERRAND_VERSION), 0},
        {"address", node->auth.listen, 0},
        {"store", str_cut(&store, ':'), 0},
        {"broker", str_cut(&broker, ':'), 0},
        {"workers", STR_NONE, config->workers_count},
        {"settings", str_absent(file) ? STR("none") : file, 0},
        {"dashboard", dashboard, 0},
        {.name = NULL},
    };
    log_facts(LOG_INFO, facts, "errand " ERRAND_VERSION " serves");
}

static enum exit_status run_node(struct config *config, const struct node_options *options,
                                 struct str file)
{
    SCOPED(mem_free_at) struct node *node = mem_new(struct node);
    struct err err = ERR_INIT;
    bool opened = node_open(node, config, options, &err), served = true;
    if (opened) {
        const char *scheme = str_absent(node->address)      ? ""
                             : str_absent(config->tls_cert) ? "http://"
                                                            : "https://";
        log_start(node, file);
        move_remind(node->store, config);
        printf("errand: ready on %s" STR_FMT "\n", scheme, STR_ARG(node->auth.listen));
        fflush(stdout);
        systemd_tell("READY=1\nSTATUS=serving " STR_FMT, STR_ARG(node->auth.listen));
        served = node_run(node);
    }
    node_close(node);
    return !opened ? verb_fail(&err) : served ? EXIT_OK : EXIT_FAILED;
}

static enum exit_status run_serve(const void *options, const struct words *words)
{
    struct serve own = *(const struct serve *)options, *serve = &own;
    SCOPED(config_fini) struct config config = {.arena = ARENA_INIT};
    struct node_options node;
    struct err err = ERR_INIT;
    (void)words;
    if (!read_options(serve, &config, &node, &err)) {
        return verb_usage(&err);
    }
    signal(SIGPIPE, SIG_IGN);
    log_set_level((enum log_level)config.log_level);
    log_set_format((enum log_format)config.log_format);
    stay_small(config.http_threads);
    const char *files[OPTION_MANY_MAX];
    for (size_t i = 0; i < serve->handlers.count; i++) {
        files[i] = serve->handlers.at[i].ptr;
    }
    node.handlers = files;
    node.handlers_count = serve->handlers.count;
    return run_node(&config, &node, setup_file(&serve->setup));
}

static const struct option serve_options[] = {
    {"listen", "HOST:PORT",
     "address (default 127.0.0.1:8001), port 0 picks a free one; or unix:PATH, a socket file; may "
     "be given for both",
     OPTION_LIST(struct serve, listen)},
    SETUP_OPTIONS(struct serve),
    {"broker", "URL", "the broker (default memory)", OPTION_TEXT(struct serve, broker)},
    {"workers", "N", "workers inside the server (default 3); 0 runs nothing here",
     OPTION_TEXT(struct serve, workers)},
    {"handlers", "FILE.so", "run functions; may be given again",
     OPTION_LIST(struct serve, handlers)},
    {"faktory", "HOST:PORT", "speaks Faktory's work protocol there too (port 7419 unless named)",
     OPTION_TEXT(struct serve, faktory)},
    {"tls-cert", "FILE", "certificate chain, PEM: serves https",
     OPTION_TEXT(struct serve, tls_cert)},
    {"tls-key", "FILE", "its private key, PEM", OPTION_TEXT(struct serve, tls_key)},
    {"insecure", NULL, "a public address without any token is meant",
     OPTION_SET(struct serve, insecure)},
    {"test-clock", "TIME", "a clock that stands still until POST /api/test/clock",
     OPTION_PERHAPS(struct serve, test_clock)},
    {"no-migrate", NULL, "refuse an old schema instead of upgrading it",
     OPTION_SET(struct serve, no_migrate)},
    OPTION_END,
};

const struct verb serve_verb = {
    .name = "serve",
    .arguments = "",
    .summary = "run a server",
    .about = "Runs a server. Everything lives in the data folder, in one SQLite file; what was\n"
             "answered is on disk. When it is ready it prints one line with its address on\n"
             "standard output; its log goes to standard error.\n\n"
             "SIGTERM or Ctrl-C drains: no more tasks are handed out, open requests are\n"
             "answered, then it ends with status 0. A second signal ends it at once. A PostgreSQL\n"
             "that boots later is waited for; a refused password or a missing database is not.\n\n"
             "SIGHUP reads the settings again: log, TLS certificate and key, [push], [limits] and\n"
             "[redact] change at once, the log names what needs a restart.\n\n"
             "A server on another address than loopback needs a token (errand token create), or\n"
             "--insecure.",
    .examples = "# here, for trying things out\nerrand serve --data /tmp/errand\n"
                "# for others, over TLS\n"
                "errand token create --role admin --data /var/lib/errand\n"
                "errand serve --data /var/lib/errand --listen 0.0.0.0:8001 --tls-cert c.pem "
                "--tls-key k.pem\n"
                "# a year in a second, for tests\nerrand serve --test-clock=2027-01-01T00:00:00Z",
    .options = serve_options,
    .size = sizeof(struct serve),
    .run = run_serve,
};
