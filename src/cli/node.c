/* cli/node.c: one running server. See node.h.
 *
 * Rooms are opened from the truth outwards (store, broker, engine, api, sockets) and ended from the
 * sockets inwards, so that whoever can still be asked has somebody to ask.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/node.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "cli/setup.h"
#include "store/fleet.h"
#include "wire/uri.h"

/* ---- Who may come in ---- */

bool node_is_loopback(struct str host)
{
    return str_eq_nocase(host, STR("localhost")) || str_is(host, "::1") ||
           str_starts(host, STR("127."));
}

static void list_hosts(struct node *node)
{
    struct str rest = node->config->http_hosts;
    while (!str_absent(rest) && node->auth.hosts_count < NODE_HOSTS_MAX) {
        struct str host = str_trim(str_cut(&rest, ','));
        if (host.len > 0) {
            node->hosts[node->auth.hosts_count++] = host;
        }
    }
}

bool node_listens(struct str listen, struct str *address, struct str *socket, struct err *err)
{
    *address = *socket = STR_NONE;
    while (!str_absent(listen)) {
        struct str one = str_trim(str_cut(&listen, ',')), path = uri_socket_path(one), host;
        uint16_t port;
        struct str *out = str_absent(path) ? address : socket;
        if (!str_absent(*out)) {
            return err_set(err, ERR_INVALID,
                           "listen takes one address and one socket file: HOST:PORT,unix:PATH");
        }
        if (str_absent(path) && !uri_parse_address(one, 0, &host, &port, err)) {
            return err_wrap(err, "listen");
        }
        *out = str_absent(path) ? one : path;
    }
    return true;
}

/* Whoever may open a socket file is let in by its mode. */
static bool check_exposure(struct node *node, struct err *err)
{
    struct str listen, host;
    uint16_t port;
    if (!node_listens(node->config->listen, &node->address, &node->socket, err)) {
        return false;
    }
    listen = node->address;
    if (str_absent(listen)) {
        return true;
    }
    if (!uri_parse_address(listen, 0, &host, &port, err)) {
        return err_wrap(err, "listen");
    }
    bool open = !node_is_loopback(host) && !node->options.insecure;
    node->auth.required = open;
    if (open && token_book_count(node->book, 1) == 0) {
        return err_set(
            err, ERR_FORBIDDEN,
            "listening on " STR_FMT " without any token would let everybody in: make one "
            "with `errand token create --role admin --data " STR_FMT "%s`, or say --insecure",
            STR_ARG(listen), STR_ARG(node->config->data),
            store_shared(node->store) ? " --store URL" : "");
    }
    return true;
}

static bool open_door(struct node *node, struct err *err)
{
    struct redact_keys *redact = arena_new(&node->config->arena, struct redact_keys);
    if (!redact_parse(node->config->redact_keys, redact, err)) {
        return err_wrap(err, "[redact] keys");
    }
    atomic_store(&node->redact, redact);
    node->auth = (struct auth){
        .listen = STR_NONE, .hosts = node->hosts, .tls = !str_absent(node->config->tls_cert)};
    list_hosts(node);
    if (!token_book_open(node->config->data.ptr, &node->clock, &node->book, err)) {
        return false;
    }
    node->auth.book = node->book;
    node->auth.sessions = node->sessions = sessions_new(&node->clock);
    return true;
}

/* ---- The truth ---- */

static bool open_stores(struct node *node, struct err *err)
{
    struct str store_url;
    if (!setup_store(node->config, &store_url, err) ||
        !setup_broker(node->config, &node->broker_options, err) ||
        !setup_folder(node->config, err)) {
        return false;
    }
    const struct store_options store = {.url = store_url, .no_migrate = node->options.no_migrate};
    node->broker_options.node = str_of(node->id);
    node->broker_options.ready = engine_ready;
    node->broker_options.arg = &node->engine;
    return open_door(node, err) && node_open_store(node, &store, err) &&
           check_exposure(node, err) && broker_open(&node->broker_options, &node->broker, err);
}

/* Commands of a server that was killed are ended by their minders, at once but not in no time. The
 * next attempts of their tasks must not meet them: the engine, which starts these, comes later.
 * Nodes that share a store may share a folder too, and leave each other's attempts to their leases.
 */
static void outlast_commands(struct node *node)
{
    if (store_shared(node->store)) {
        return;
    }
    int lock = starter_lock(node->config->data.ptr);
    if (node->starter != NULL) {
        starter_keep(node->starter, lock);
    } else if (lock >= 0) {
        close(lock);
    }
}

/* First of all: it forks, and later there would be threads and memory. */
static bool start_starter(struct node *node, struct err *err)
{
    const struct config *config = node->config;
    for (size_t i = 0; config->workers_count > 0 && i < config->handlers.count; i++) {
        if (!str_absent(config->handlers.at[i].command.line)) {
            return starter_open(&node->starter, err);
        }
    }
    return true;
}

static void on_abort(void *arg, struct task_id id, int32_t attempt, enum abort_why why)
{
    workforce_abort(((struct node *)arg)->work, id, attempt, why);
}

static size_t lost_workers(void *arg)
{
    return workforce_health(((struct node *)arg)->work).lost;
}

/* The types of tasks that are done here by the settings: they are told apart in /metrics however
 * many others clients bring. */
static size_t list_types(const struct config *config, struct str out[static NODE_TYPES_MAX])
{
    static const char *const own[] = {"deliver.email", "deliver.mobile", "deliver.web"};
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(own); i++) {
        out[n++] = str_of(own[i]);
    }
    for (size_t i = 0; i < config->handlers.count; i++) {
        out[n++] = config->handlers.at[i].command.type;
    }
    return n;
}

static bool start_engine(struct node *node, struct err *err)
{
    struct str types[NODE_TYPES_MAX];
    struct engine_host host = node_engine_host(node);
    host.abort = on_abort;
    host.abort_arg = node;
    node_watch_ends(node, &host);
    const struct engine_options options = {
        .store = node->store,
        .broker = node->broker,
        .clock = &node->clock,
        .rand = &node->rand,
        .host = host,
        .retention_ms = node->config->retention_finished_ms,
        .waiting_max = (size_t)node->config->limits_waiting_claims,
        .grace_ms = node->config->workers_grace_ms,
        .guests = node->guests,
        .guests_count = node_seat_guests(node),
        .types = types,
        .types_count = list_types(node->config, types),
        .node = str_of(node->id),
        .looks_in_real_time = node->options.test_clock && store_shared(node->store),
    };
    return engine_new(&options, &node->engine, err) && engine_start(node->engine, err) &&
           queries_start(node->store, NODE_READERS, api_query_answered, node->api, &node->queries,
                         err);
}

/* ---- Work inside the server ---- */

static void on_rested(void *arg)
{
    ((struct node *)arg)->rested = true;
}

static size_t list_queues(const struct config *config, struct str *out)
{
    struct str rest = config->workers_queues;
    size_t n = 0;
    while (!str_absent(rest) && n < NODE_QUEUES_MAX) {
        struct str name = str_trim(str_cut(&rest, ','));
        if (name.len > 0) {
            out[n++] = name;
        }
    }
    if (n > 0 && n < NODE_QUEUES_MAX) {
        out[n++] = STR(
            RESERVED_DELIVERY_QUEUE); /* whoever narrows the queues still wants results delivered */
    }
    return n;
}

static bool start_work(struct node *node, struct err *err)
{
    struct str queues[NODE_QUEUES_MAX];
    struct exec_command commands[HANDLERS_MAX];
    struct push_handler pushes[HANDLERS_MAX];
    const struct config *config = node->config;
    size_t commands_count = 0, pushes_count = 0;
    services_list(&node->services, config);
    for (size_t i = 0; i < config->handlers.count; i++) {
        if (!str_absent(config->handlers.at[i].command.line)) {
            commands[commands_count++] = config->handlers.at[i].command;
        }
        if (!str_absent(config->handlers.at[i].push.url) && config->workers_count > 0) {
            pushes[pushes_count++] = config->handlers.at[i].push;
        }
    }
    const struct workforce_options options = {
        .engine = node->engine,
        .workers = (size_t)config->workers_count,
        .queues = queues,
        .queues_count = list_queues(config, queues),
        .handlers = node->options.handlers,
        .handlers_count = node->options.handlers_count,
        .commands = commands,
        .commands_count = commands_count,
        .starter = node->starter,
        .services = node->services.table,
        .services_count = node->services.count,
        .push = {.handlers = pushes,
                 .handlers_count = pushes_count,
                 .cloud = config->workers_count > 0,
                 .concurrency = (size_t)config->push_concurrency,
                 .per_host = (size_t)config->push_per_host,
                 .allow_private = config->push_allow_private},
        .llm = node_has_crew(node) ? &node->services.llm : NULL,
        .lead = node->lead,
        .grace_ms = config->workers_grace_ms,
        .traced = node->otlp != NULL,
        .data = config->data,
        .rested = on_rested,
        .rested_arg = node,
    };
    return workforce_start(node->work, &options, err);
}

/* ---- The way down ---- */

static void stop_now(struct node *node)
{
    node->phase = NODE_STOPPING;
    uv_stop(&node->loop);
}

/* Long polls are told that their time is over; when all is answered, or the grace has passed, it
 * ends. */
static void on_drain_tick(uv_timer_t *timer)
{
    struct node *node = timer->data;
    server_hurry(node->server);
    bool busy = server_busy(node->server) || loops_busy(node->loops) ||
                (node->faktory_server != NULL && server_busy(node->faktory_server));
    bool over = !busy && node->rested;
    if (over || uv_now(&node->loop) >= node->drain_until_ms) {
        stop_now(node);
    }
}

static void begin_drain(struct node *node, int64_t limit_ms)
{
    if (node->phase != NODE_RUNNING) {
        return;
    }
    node->phase = NODE_DRAINING;
    node->drain_until_ms = uv_now(&node->loop) + (uint64_t)limit_ms;
    server_quiet(node->server);
    loops_quiet(node->loops);
    if (node->faktory_server != NULL) {
        server_quiet(node->faktory_server);
    }
    uv_timer_start(&node->drain_timer, on_drain_tick, NODE_DRAIN_TICK, NODE_DRAIN_TICK);
}

/* The engine hands out nothing more; what it had said so far is on its way. */
static void on_drained(struct api_sender *sender, struct command *command)
{
    (void)sender;
    (void)command;
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct node *node = handle->data;
    if (node->phase != NODE_RUNNING) {
        log_info("told again to stop: stopping at once");
        node->drain_until_ms = 0;
        stop_now(node);
        return;
    }
    log_info("signal %d: draining", number);
    systemd_tell("STOPPING=1\nSTATUS=draining");
    node->drained.answered = on_drained;
    node->drain = (struct command){
        .kind = COMMAND_DRAIN, .arena = &node->drain_arena, .sender = &node->drained};
    api_give(node->api, &node->drain);
    workforce_quiet(node->work);
    fleet_quiet(node->fleet);
    begin_drain(node, node->config->workers_grace_ms + NODE_GIVE_BACK_MS);
}

static void on_failed(void *arg)
{
    struct node *node = arg;
    node->failed = true;
    begin_drain(node, NODE_FAILED_MS);
    node->drain_until_ms = MIN(node->drain_until_ms, uv_now(&node->loop) + NODE_FAILED_MS);
}

/* ---- The loop and what lives on it ---- */

static void start_handles(struct node *node)
{
    mem_must(uv_signal_init(&node->loop, &node->on_term) == 0, "signals");
    mem_must(uv_signal_init(&node->loop, &node->on_interrupt) == 0, "signals");
    uv_timer_init(&node->loop, &node->drain_timer);
    node->on_term.data = node->on_interrupt.data = node->drain_timer.data = node;
    uv_signal_start(&node->on_term, on_signal, SIGTERM);
    uv_signal_start(&node->on_interrupt, on_signal, SIGINT);
    reload_start(node);
}

static struct otlp_figures spans_sent(void *arg)
{
    return otlp_figures(((struct node *)arg)->otlp);
}

static struct api_options api_options(struct node *node)
{
    return (struct api_options){
        .loop = &node->loop,
        .auth = &node->auth,
        .events = node->events,
        .clock = &node->clock,
        .payload_max = (size_t)node->config->limits_payload,
        .test_clock = node->options.test_clock,
        .mails = services_mail(&node->services, node->config),
        .push_private = node->config->push_allow_private,
        .execute_secret = node->services.execute_secret,
        .redact = &node->redact,
        .node_id = str_of(node->id),
        .version = STR(ERRAND_VERSION),
        .data = node->config->data,
        .started_ms = clock_now(&node->clock).wall_ms,
        .signed_out = node_signed_out,
        .signed_out_arg = node,
        .failed = on_failed,
        .failed_arg = node,
        .spans = node->otlp == NULL ? NULL : spans_sent,
        .spans_arg = node,
        .lost = lost_workers,
        .lost_arg = node,
    };
}

static bool start_assistant(struct node *node, struct err *err)
{
    const struct assistant_pool_options options = {.llm = &node->services.llm,
                                                   .notes = api_assistant_notes(node->api)};
    return !node->services.has_llm || assistant_pool_start(&options, &node->assistant, err);
}

static bool start_server(struct node *node, struct err *err)
{
    const struct config *config = node->config;
    const struct server_options options = {
        .loop = &node->loop,
        .loops = (size_t)config->http_threads,
        .listen = node->address,
        .socket = node->socket,
        .tls_cert = config->tls_cert.ptr,
        .tls_key = config->tls_key.ptr,
        .connections_max = (size_t)config->limits_connections,
        .body_max = (size_t)config->limits_request,
        .admit = api_admit,
        .handle = api_handle,
        .arg = node->api,
    };
    if (!server_start(&options, &node->server, err) || config->http_threads == 1) {
        return node->server != NULL;
    }
    const struct api_options api = api_options(node);
    const struct loops_options further = {.count = options.loops - 1,
                                          .api = &api,
                                          .server = &options,
                                          .home_api = node->api,
                                          .home_server = node->server};
    return loops_open(&further, &node->loops, err);
}

/* HOST:PORT as it is reached, or unix:PATH. */
static struct str reached_at(struct node *node)
{
    struct arena *arena = &node->config->arena;
    struct str host = STR_NONE;
    uint16_t port;
    if (!uri_parse_address(node->address, 0, &host, &port, NULL)) {
        return arena_printf(arena, "unix:" STR_FMT, STR_ARG(node->socket));
    }
    bool six = memchr(host.ptr, ':', host.len) != NULL;
    return arena_printf(arena, "%s" STR_FMT "%s:%d", six ? "[" : "", STR_ARG(host), six ? "]" : "",
                        server_port(node->server));
}

static struct api_parts open_api(struct node *node)
{
    const struct api_parts parts = {
        .engine = node->engine,
        .queries = node->queries,
        .server = node->server,
        .planner = node->planner,
        .assistant = node->assistant,
        .lead = node->lead,
        .cloud = node->cloud,
        .address = reached_at(node),
    };
    node->auth.listen = parts.address;
    api_open(node->api, &parts);
    return parts;
}

/* ---- Life ---- */

static void init(struct node *node, struct config *config, const struct node_options *options)
{
    char host[64] = "";
    *node = (struct node){.config = config, .options = *options, .drain_arena = ARENA_INIT};
    gethostname(host, sizeof host - 1);
    rand_init(&node->rand);
    snprintf(node->id, sizeof node->id, "%s-%d-%06x", host[0] != '\0' ? host : "node",
             (int)getpid(), (unsigned)(rand_u64(&node->rand) & 0xFFFFFF));
    node->work = workforce_new();
    if (options->test_clock) {
        clock_init_by_hand(&node->clock, options->test_clock_ms);
    } else {
        clock_init_real(&node->clock);
    }
}

/* What could be wrong with the settings is told before anything is opened. Then the truth and who
 * may come in; the api before the engine, which answers through it; work after the engine, which
 * hands it out; sockets when there is somebody to answer; and other nodes hear of this one last. */
bool node_open(struct node *node, struct config *config, const struct node_options *options,
               struct err *err)
{
    init(node, config, options);
    bool may_start = start_starter(node, err);
    mem_must(uv_loop_init(&node->loop) == 0, "the net loop");
    start_handles(node);
    if (!may_start || !services_read(config, &node->services, err) || !open_stores(node, err)) {
        return false;
    }
    outlast_commands(node);
    if (!events_start(&node->loop, clock_real_wall_ms(), &node->events, err) ||
        !node_start_otel(node, err)) {
        return false;
    }
    const struct api_options api = api_options(node);
    if (!api_start(&api, &node->api, err) || !start_engine(node, err) || !start_work(node, err) ||
        !start_assistant(node, err) || !start_server(node, err)) {
        return false;
    }
    const struct api_parts parts = open_api(node);
    systemd_watch(&node->systemd, &node->loop, node->api, node->loops);
    return node_start_faktory(node, err) && node_join_fleet(node, err) &&
           loops_run(node->loops, &parts, err);
}

bool node_run(struct node *node)
{
    uv_run(&node->loop, UV_RUN_DEFAULT);
    return !node->failed;
}

static void end_threads(struct node *node)
{
    workforce_stop(node->work); /* gives back what still runs: the engine must be there */
    starter_close(node->starter);
    fleet_stop(node->fleet); /* the next leader need not wait */
    if (node->engine != NULL) {
        engine_stop(node->engine);
        engine_free(node->engine); /* what still waits is answered through the api */
    }
    node_stop_otel(node);
    workforce_free(node->work);
    assistant_pool_stop(node->assistant);
    queries_stop(node->queries);
    if (node->api != NULL) {
        api_stop(node->api);
    }
    loops_close(node->loops);
    if (node->events != NULL) {
        events_stop(node->events);
    }
}

/* It is ending already: a further signal must not change the exit status. */
static void end_loop(struct node *node)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    uv_close((uv_handle_t *)&node->on_term, NULL);
    uv_close((uv_handle_t *)&node->on_interrupt, NULL);
    uv_close((uv_handle_t *)&node->on_hangup, NULL);
    uv_close((uv_handle_t *)&node->drain_timer, NULL);
    systemd_unwatch(&node->systemd);
    uv_run(&node->loop, UV_RUN_DEFAULT);
    server_free(node->faktory_server);
    faktory_free(node->faktory);
    loops_free(node->loops);
    server_free(node->server);
    api_free(node->api);
    events_free(node->events);
    uv_loop_close(&node->loop);
}

/* The way back: no more requests, then no more work, then nobody who asks the store, then it. */
void node_close(struct node *node)
{
    uint64_t now_ms = uv_now(&node->loop);
    loops_stop(node->loops, (int64_t)(MAX(node->drain_until_ms, now_ms) - now_ms));
    if (node->server != NULL) {
        server_stop(node->server);
    }
    if (node->faktory_server != NULL) {
        server_stop(node->faktory_server);
    }
    faktory_stop(node->faktory);
    end_threads(node);
    end_loop(node);
    fleet_free(node->fleet); /* until here calls ask for its status */
    planner_free(node->planner);
    lead_free(node->lead);
    cloud_free(node->cloud);
    zones_free(node->zones);
    broker_close(node->broker);
    store_close(node->store);
    sessions_free(node->sessions);
    token_book_close(node->book);
    arena_fini(&node->drain_arena);
    reload_end(node);
}
