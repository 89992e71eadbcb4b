/* cli/mcp.c: `errand mcp`: the Model Context Protocol on standard input and output, for an agent on
 * the same machine.
 *
 * The server speaks the protocol (POST /mcp); this carries lines there and answers back. Each
 * message has a thread and a connection of its own while it is under way, since one may wait for a
 * minute and others, its cancellation among them, must not.
 *
 * Thread: the first reads; struct bridge says what the others may touch.
 *
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/list.h"
#include "base/mem.h"
#include "cli/verb.h"

#define AT_ONCE_MAX  64
#define MCP_LIMIT_MS (2 * 60 * SECOND_MS) /* of one message: tools wait for a minute at most */
#define RPC_INVALID  -32600
#define RPC_AWAY     -32000 /* the server is not there, or does not let us in */

struct mcp {
    struct remote_options remote;
};

struct bridge {
    struct remote_options server;
    pthread_mutex_t lock; /* guards what follows, and standard output */
    pthread_cond_t fewer;
    struct list under_way; /* struct message */
    struct list over;      /* likewise; their threads have nothing more to do than to end */
    size_t count;
    bool no_batches; /* the version that was agreed upon has none */
};

struct message {
    struct link link;
    struct bridge *bridge;
    pthread_t thread;
    struct str line, id; /* the id as JSON; absent: nobody waits for an answer */
    struct remote remote;
    int stop; /* an eventfd: it was cancelled */
    bool cancelled;
};

static void say(struct message *message, struct str line)
{
    pthread_mutex_lock(&message->bridge->lock);
    if (!message->cancelled) {
        fwrite(line.ptr, 1, line.len, stdout);
        fputc('\n', stdout);
        fflush(stdout);
    }
    pthread_mutex_unlock(&message->bridge->lock);
}

static void say_error(struct message *message, int code, struct str text)
{
    SCOPED(buf_fini) struct buf line = BUF_INIT(MIB);
    struct json_writer w = JSON_WRITER(&line);
    json_open_object(&w);
    json_put_c(&w, "jsonrpc", "2.0");
    json_put_raw(&w, "id", str_absent(message->id) ? STR("null") : message->id);
    json_put_object(&w, "error");
    json_put_i64(&w, "code", code);
    json_put_str(&w, "message", text);
    json_close_object(&w);
    json_close_object(&w);
    say(message, buf_view(&line));
}

/* Where progress was asked for the answer is a stream of events, each a message. */
static bool on_line(void *arg, struct str line)
{
    if (str_starts(line, STR("data: "))) {
        say(arg, str_from(line, 6));
    }
    return true;
}

/* The version that both speak is in the answer to `initialize`. */
static void note_version(struct message *message, struct str answer)
{
    struct str result = json_find(answer, "result", &message->remote.arena);
    struct str version = str_absent(result)
                             ? STR_NONE
                             : json_find_str(result, "protocolVersion", &message->remote.arena);
    if (!str_absent(version)) {
        pthread_mutex_lock(&message->bridge->lock);
        message->bridge->no_batches = !str_is(version, "2025-03-26");
        pthread_mutex_unlock(&message->bridge->lock);
    }
}

static void carry(struct message *message)
{
    struct client_answer answer = {0};
    struct err err = ERR_INIT;
    struct remote *remote = &message->remote;
    bool waits = !str_absent(message->id) || message->line.ptr[0] == '[';
    if (!remote_open(remote, &message->bridge->server, &err) ||
        !client_call(remote->client,
                     &(struct client_call){.method = "POST",
                                           .path = STR("/mcp"),
                                           .body = message->line,
                                           .limit_ms = MCP_LIMIT_MS,
                                           .stop = &message->stop,
                                           .line = on_line,
                                           .arg = message},
                     &remote->arena, &answer, &err)) {
        if (waits) {
            say_error(message, RPC_AWAY, str_of(err.text));
        }
    } else if (answer.body.len > 0 &&
               !str_absent(json_find(answer.body, "error", &remote->arena)) &&
               str_absent(json_find(answer.body, "jsonrpc", &remote->arena))) {
        (void)!remote_refusal(remote, &answer, &err); /* of the API, not of the protocol */
        if (waits) {
            say_error(message, RPC_AWAY, str_of(err.text));
        }
    } else if (answer.body.len > 0) {
        note_version(message, answer.body);
        say(message, answer.body);
    }
}

static void *run_message(void *arg)
{
    struct message *message = arg;
    struct bridge *bridge = message->bridge;
    carry(message);
    pthread_mutex_lock(&bridge->lock);
    list_remove(&message->link);
    list_append(&bridge->over, &message->link);
    bridge->count--;
    pthread_cond_signal(&bridge->fewer);
    pthread_mutex_unlock(&bridge->lock);
    return NULL;
}

static void message_free(struct message *message)
{
    remote_close(&message->remote);
    close(message->stop);
    mem_free((char *)message->line.ptr);
    mem_free(message);
}

/* Lays messages to rest that are over. With the lock. */
static void reap(struct bridge *bridge)
{
    LIST_EACH(&bridge->over, it)
    {
        list_remove(it);
        pthread_join(HOLDER(it, struct message, link)->thread, NULL);
        message_free(HOLDER(it, struct message, link));
    }
}

/* notifications/cancelled: whoever carries that message gives it up and says no more. */
static void cancel(struct bridge *bridge, struct str line, struct arena *arena)
{
    struct str params = json_find(line, "params", arena);
    struct str id = str_absent(params) ? STR_NONE : json_find(params, "requestId", arena);
    pthread_mutex_lock(&bridge->lock);
    LIST_EACH(&bridge->under_way, it)
    {
        struct message *message = HOLDER(it, struct message, link);
        if (!str_absent(id) && !str_absent(message->id) && str_eq(message->id, id)) {
            message->cancelled = true;
            (void)!write(message->stop, &(uint64_t){1}, sizeof(uint64_t));
        }
    }
    pthread_mutex_unlock(&bridge->lock);
}

/* Waits while as many are under way as may be. */
static void begin(struct bridge *bridge, struct str line)
{
    struct message *message = mem_new(struct message);
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    bool batch = line.ptr[0] == '[';
    struct str id = batch || !json_valid(line, NULL) ? STR_NONE : json_find(line, "id", &arena);
    char *copy = mem_alloc(line.len + 1);
    memcpy(copy, line.ptr, line.len);
    copy[line.len] = '\0';
    message->bridge = bridge;
    message->line = (struct str){copy, line.len};
    message->id = str_absent(id) ? id : (struct str){copy + (id.ptr - line.ptr), id.len};
    message->stop = eventfd(0, EFD_CLOEXEC);
    pthread_mutex_lock(&bridge->lock);
    while (bridge->count == AT_ONCE_MAX) {
        pthread_cond_wait(&bridge->fewer, &bridge->lock);
    }
    reap(bridge);
    bool refused = batch && bridge->no_batches;
    bool begun = !refused && pthread_create(&message->thread, NULL, run_message, message) == 0;
    if (begun) { /* its thread waits for the lock before it lets go of the message */
        list_append(&bridge->under_way, &message->link);
        bridge->count++;
    }
    pthread_mutex_unlock(&bridge->lock);
    if (!begun) {
        say_error(message, refused ? RPC_INVALID : RPC_AWAY,
                  refused ? STR("this version of the protocol has no batches")
                          : STR("no thread could be started"));
        message_free(message);
    }
}

static enum exit_status run_mcp(const void *options, const struct words *words)
{
    struct bridge bridge = {.server = ((const struct mcp *)options)->remote};
    char *line = NULL;
    size_t room = 0;
    ssize_t len;
    (void)words;
    pthread_mutex_init(&bridge.lock, NULL);
    pthread_cond_init(&bridge.fewer, NULL);
    list_init(&bridge.under_way);
    list_init(&bridge.over);
    while ((len = getline(&line, &room, stdin)) > 0) {
        SCOPED(arena_fini) struct arena arena = ARENA_INIT;
        line[len - (line[len - 1] == '\n')] = '\0';
        struct str text = str_trim(str_of(line)); /* what is behind a NUL is no JSON anyway */
        if (text.len == 0) {
            continue;
        }
        if (text.ptr[0] == '{' && json_valid(text, NULL) &&
            str_is(json_find_str(text, "method", &arena), "notifications/cancelled")) {
            cancel(&bridge, text, &arena);
        } else {
            begin(&bridge, text);
        }
    }
    free(line);
    pthread_mutex_lock(&bridge.lock); /* what was asked is answered before the end */
    while (bridge.count > 0) {
        pthread_cond_wait(&bridge.fewer, &bridge.lock);
    }
    reap(&bridge);
    pthread_mutex_unlock(&bridge.lock);
    return EXIT_OK;
}

static const struct option mcp_options[] = {
    REMOTE_SERVER_OPTIONS(struct mcp),
    OPTION_END,
};

const struct verb mcp_verb = {
    .name = "mcp",
    .arguments = "",
    .summary = "speak the Model Context Protocol, for an agent",
    .about = "Reads messages from standard input and writes answers to standard output, one JSON\n"
             "object a line, until the input ends: what an agent on this machine is configured to\n"
             "start. Its tools are those that the token's role allows. Agents elsewhere use\n"
             "POST /mcp of the server itself. docs/agents.md has the configuration of hosts.",
    .examples = "# in a host's configuration: {\"command\": \"errand\", \"args\": [\"mcp\"]}\n"
                "errand mcp --url http://127.0.0.1:8001",
    .options = mcp_options,
    .size = sizeof(struct mcp),
    .run = run_mcp,
};
