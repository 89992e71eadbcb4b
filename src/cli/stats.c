/* cli/stats.c: `errand stats`: what the server counts.
 *
 * The answer is shown as it comes: members of objects inside it are indented under their name, so a
 * newer server's numbers are shown too.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "cli/human.h"
#include "cli/remote.h"
#include "cli/verb.h"

#define NESTING_MAX 4

struct stats {
    struct remote_options remote;
};

static void print_value(const struct paper *paper, int depth, struct str key, struct str raw)
{
    SCOPED(buf_fini) struct buf value = BUF_INIT(64 * KIB);
    human_clean(&value, raw);
    const char *colour = human_colour(paper, key);
    printf("%*s%s%-*.*s%s  " STR_FMT "\n", depth * 2, "", colour, 24 - depth * 2, STR_ARG(key),
           colour[0] ? human_plain(paper) : "", STR_ARG(buf_view(&value)));
}

/* One object; its inner ones down to NESTING_MAX, below that as JSON. */
static void print_object(struct remote *remote, const struct paper *paper, int depth,
                         struct str object)
{
    struct json json;
    struct str key, raw;
    json_start(&json, object, &remote->arena);
    if (!json_enter_object(&json, NULL)) {
        return;
    }
    while (json_member(&json, &key, NULL)) {
        bool deeper = json_peek(&json) == JSON_OBJECT && depth < NESTING_MAX;
        if (!json_raw(&json, &raw, NULL)) {
            return;
        }
        if (deeper) {
            printf("%*s" STR_FMT "\n", depth * 2, "", STR_ARG(key));
            print_object(remote, paper, depth + 1, raw);
        } else {
            print_value(paper, depth, key, raw);
        }
    }
}

static enum exit_status run_stats(const void *options, const struct words *words)
{
    const struct stats *stats = options;
    SCOPED(remote_close) struct remote remote = {.client = NULL};
    struct paper paper = paper_stdout();
    struct err err = ERR_INIT;
    struct str answer;
    (void)words;
    if (!remote_open(&remote, &stats->remote, &err) ||
        !remote_call(&remote, "GET", STR("/api/stats"), STR_NONE, &answer, &err)) {
        return verb_fail(&err);
    }
    if (remote.json) {
        printf(STR_FMT "\n", STR_ARG(answer));
    } else {
        print_object(&remote, &paper, 0, answer);
    }
    return EXIT_OK;
}

static const struct option stats_options[] = {
    REMOTE_OPTIONS(struct stats),
    OPTION_END,
};

const struct verb stats_verb = {
    .name = "stats",
    .arguments = "",
    .summary = "show counts, rates and latencies",
    .about = "Shows how many tasks are in each state, how fast they come and go, how long they\n"
             "wait and run, and since when the oldest one waits.",
    .examples = "# a look\nerrand stats\n# every two seconds\nwatch -n 2 errand stats",
    .options = stats_options,
    .size = sizeof(struct stats),
    .run = run_stats,
};
