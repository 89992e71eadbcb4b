/* cli/ls.c: `errand ls`: lists tasks, newest first, as many pages as it takes.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "cli/filter.h"
#include "cli/human.h"
#include "cli/remote.h"
#include "cli/verb.h"

#define PAGE_MAX 500 /* the server's own limit */

struct ls {
    struct remote_options remote;
    struct filter_options filter;
    int64_t limit;
};

static const struct ls ls_defaults = {.limit = 50};

static void add_row(struct table *table, struct str task, const struct paper *paper,
                    struct arena *arena)
{
    static const char *const texts[] = {"id",       "taskType", "state",
                                        "priority", "queue",    "documentId"};
    SCOPED(buf_fini) struct buf when = BUF_INIT(KIB);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        table_add(table, json_find_str(task, texts[i], arena));
    }
    table_add(table, json_find(task, "attempt", arena));
    human_when(&when, paper, json_find_str(task, "createdAt", arena));
    table_add(table, buf_view(&when));
}

/* What one page holds: rows of the table, or items of the JSON array. */
struct listing {
    struct remote *remote;
    struct table table;
    struct paper paper;
    int64_t left;
    bool first;
};

static void take_page(struct listing *listing, struct str page)
{
    struct json json;
    struct str task;
    json_start(&json, page, &listing->remote->arena);
    if (!json_enter_array(&json, NULL)) {
        return;
    }
    while (listing->left > 0 && remote_item(&json, &task)) {
        if (listing->remote->json) {
            printf("%s" STR_FMT, listing->first ? "[" : ",\n", STR_ARG(task));
        } else {
            add_row(&listing->table, task, &listing->paper, &listing->remote->arena);
        }
        listing->first = false;
        listing->left--;
    }
}

static bool take_pages(struct listing *listing, struct str path, struct err *err)
{
    while (listing->left > 0 && !str_absent(path)) {
        const struct client_call call = {.method = "GET", .path = path};
        struct client_answer answer;
        if (!remote_call_whole(listing->remote, &call, &answer, err)) {
            return false;
        }
        take_page(listing, answer.body);
        path = remote_next_page(&answer);
    }
    return true;
}

static enum exit_status run_ls(const void *options, const struct words *words)
{
    static const char *const heads[] = {"ID",       "TYPE",    "STATE",   "PRIORITY", "QUEUE",
                                        "DOCUMENT", "ATTEMPT", "CREATED", NULL};
    const struct ls *ls = options;
    SCOPED(remote_close) struct remote remote = {.client = NULL};
    SCOPED(buf_fini) struct buf path = BUF_INIT(64 * KIB);
    struct err err = ERR_INIT;
    (void)words;
    buf_printf(&path, "/api/tasks?limit=%lld", (long long)MIN(ls->limit, PAGE_MAX));
    filter_query(&ls->filter, &path);
    if (!remote_open(&remote, &ls->remote, &err)) {
        return verb_fail(&err);
    }
    struct listing listing = {
        .remote = &remote, .paper = paper_stdout(), .left = ls->limit, .first = true};
    table_init(&listing.table, heads, &remote.arena);
    bool ok = take_pages(&listing, buf_view(&path), &err);
    if (ok && remote.json) {
        puts(listing.first ? "[]" : "]");
    } else if (ok) {
        table_print(&listing.table, &listing.paper);
    }
    table_fini(&listing.table);
    return ok ? EXIT_OK : verb_fail(&err);
}

static const struct option ls_options[] = {
    FILTER_OPTIONS(struct ls),
    {"limit", "N", "at most this many (default 50)", OPTION_NUMBER(struct ls, limit, 1, 1000000)},
    REMOTE_OPTIONS(struct ls),
    OPTION_END,
};

const struct verb ls_verb = {
    .name = "ls",
    .arguments = "",
    .summary = "list tasks",
    .about = "Lists tasks, newest first. Options narrow the list; those given together must all\n"
             "hold.",
    .examples = "# what went wrong lately\nerrand ls --state FAILED,TIMEOUT --limit 20\n"
                "# everything about one document, for a script\n"
                "errand ls --doc page-12 --json",
    .options = ls_options,
    .defaults = &ls_defaults,
    .size = sizeof(struct ls),
    .run = run_ls,
};
