/* cli/look.c: what the server sees besides tasks: documents, nodes, and events as they happen.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "cli/verb.h"

struct look {
    struct remote_options remote;
};

static const struct option plain_options[] = {REMOTE_OPTIONS(struct look), OPTION_END};

/* ---- Documents ---- */

/* One document is told with all who wait for it, a list with their number. */
static void write_waiting(struct remote *remote, struct str document, const char *key,
                          struct buf *cell)
{
    struct str count = json_find(document, key, &remote->arena), id;
    int64_t waiting = 0;
    struct json json;
    json_start(&json, json_find(document, "waiting", &remote->arena), &remote->arena);
    for (bool in = json_enter_array(&json, NULL); in && remote_item(&json, &id);) {
        waiting++;
    }
    if (str_absent(count)) {
        buf_i64(cell, waiting);
    } else {
        buf_str(cell, count);
    }
}

static const struct column document_columns[] = {
    {"DOCUMENT", .key = "documentId"},
    {"HELD BY", .key = "taskId"},
    {"WORKER", .key = "workerId"},
    {"SINCE", .key = "since", .kind = COLUMN_TIME},
    {"WAITING", .key = "waitingCount", .write = write_waiting},
    {.head = NULL},
};

static void print_document(struct remote *remote, struct str document)
{
    struct json json;
    struct str id;
    size_t ahead = 0;
    verb_print_table(remote, document_columns, document);
    json_start(&json, json_find(document, "waiting", &remote->arena), &remote->arena);
    if (json_enter_array(&json, NULL)) {
        while (json_item(&json, NULL) && json_str(&json, &id, NULL)) {
            printf("%5zu. " STR_FMT "\n", ++ahead, STR_ARG(id));
        }
    }
}

static enum exit_status run_documents(const void *options, const struct words *words)
{
    static const struct verb one = {
        .name = "documents",
        .options = plain_options,
        .request = {"GET", "/api/documents/{}", .print = print_document},
    };
    return verb_request(words->count > 0 ? &one : &documents_verb, options, words);
}

const struct verb documents_verb = {
    .name = "documents",
    .arguments = "[ID]",
    .summary = "list documents that are held, or show one and who waits for it",
    .about =
        "Lists the documents that are held now: by which task, since when, and how many wait.\n"
        "With an ID it shows that document and those who wait for it, in the order in which\n"
        "they will start.",
    .examples = "# what is held?\nerrand documents\n# who is next?\nerrand documents page-12",
    .options = plain_options,
    .size = sizeof(struct look),
    .words_max = 1,
    .request = {"GET", "/api/documents?locked=true", .columns = document_columns},
    .run = run_documents,
};

/* ---- Nodes ---- */

static void write_leader(struct remote *remote, struct str node, const char *key, struct buf *cell)
{
    buf_c(cell, str_is(json_find(node, key, &remote->arena), "true") ? "leader" : "");
}

static const struct column node_columns[] = {
    {"NODE", .key = "id"},
    {"ADDRESS", .key = "address"},
    {"ROLE", .key = "leader", .write = write_leader},
    {"STORE", .key = "store"},
    {"BROKER", .key = "broker"},
    {"RUNNING", .key = "running", .kind = COLUMN_VALUE},
    {"VERSION", .key = "version", .spare = true},
    {"STARTED", .key = "startedAt", .kind = COLUMN_TIME},
    {.head = NULL},
};

const struct verb nodes_verb = {
    .name = "nodes",
    .arguments = "[list]",
    .summary = "list the servers that share the store",
    .about = "Lists the nodes of the fleet, or the one server there is: which of them leads, what\n"
             "each thinks of its store and its broker, and how many tasks it runs.",
    .examples = "# all of them\nerrand nodes",
    .options = plain_options,
    .size = sizeof(struct look),
    .words_max = 1,
    .request = {"GET", "/api/nodes", .columns = node_columns, .member = "nodes"},
};

/* ---- Events ---- */

struct events_options {
    struct remote_options remote;
    struct str types, type, document;
};

/* "state     0192f3a1-7c1e-7000-8000-000000000001  resize  RUNNING" */
static bool print_event(void *arg, struct str event, struct str data, struct err *err)
{
    static const char *const shown[] = {"taskId", "taskType", "documentId", "state", "queue"};
    struct remote *remote = arg;
    SCOPED(buf_fini) struct buf line = BUF_INIT(64 * KIB);
    (void)err;
    if (remote->json) {
        printf("{\"event\":\"" STR_FMT "\",\"data\":" STR_FMT "}\n", STR_ARG(event), STR_ARG(data));
        fflush(stdout);
        return true;
    }
    struct arena arena = ARENA_INIT;
    buf_printf(&line, "%-9.*s", STR_ARG(event));
    for (size_t i = 0; i < ARRAY_LEN(shown); i++) {
        struct str value = json_find_str(data, shown[i], &arena);
        if (!str_absent(value)) {
            buf_c(&line, " ");
            human_clean(&line, value);
        }
    }
    struct str rest = json_find(data, str_is(event, "log") ? "lines" : "progress", &arena);
    if (!str_absent(rest)) {
        buf_c(&line, " ");
        human_clean(&line, rest);
    }
    printf(STR_FMT "\n", STR_ARG(buf_view(&line)));
    fflush(stdout);
    arena_fini(&arena);
    return true;
}

static void draw_nothing(void *arg)
{
    (void)arg;
}

static enum exit_status run_events(const void *options, const struct words *words)
{
    const struct events_options *given = options;
    SCOPED(remote_close) struct remote remote = {.client = NULL};
    SCOPED(buf_fini) struct buf path = BUF_INIT(64 * KIB);
    struct err err = ERR_INIT;
    (void)words;
    buf_c(&path, "/api/events");
    option_put_query(events_verb.options, given, &path);
    struct remote_stream stream = {
        .path = buf_view(&path), .arg = &remote, .event = print_event, .draw = draw_nothing};
    return remote_open(&remote, &given->remote, &err) && remote_follow(&remote, &stream, &err)
               ? EXIT_OK
               : verb_fail_as(given->remote.json, &err);
}

static const struct option events_options[] = {
    {"types", "KINDS", "only these, comma separated: state,progress,log,queue,leader",
     OPTION_TEXT(struct events_options, types), .field = "types"},
    {"type", "T", "of this task type", OPTION_TEXT(struct events_options, type),
     .field = "taskType"},
    {"doc", "ID", "of this document", OPTION_TEXT(struct events_options, document),
     .field = "documentId"},
    REMOTE_OPTIONS(struct events_options),
    OPTION_END,
};

const struct verb events_verb = {
    .name = "events",
    .arguments = "",
    .summary = "print what happens, an event a line",
    .about = "Prints every event of the server as it happens, until it is stopped with Ctrl-C. A\n"
             "connection that breaks is taken up again where it ended. With --json a line is an\n"
             "object with `event` and `data`.",
    .examples = "# everything that ends badly, for a script\n"
                "errand events --types state --json | grep '\"FAILED\"'",
    .options = events_options,
    .size = sizeof(struct events_options),
    .run = run_events,
};
