/* tests/team/office.h: the lead on the engine's workbench (tests/queue/bench.h).
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TESTS_TEAM_OFFICE_H
#define ERRAND_TESTS_TEAM_OFFICE_H

#include "queue/bench.h"
#include "team/lead.h"

struct office {
    struct bench bench;
    struct lead_options with;
    struct lead *lead;
    struct guest *guests[2];
    struct guest *beside; /* another guest; NULL: none */
    struct err err;
    struct channel news;
    size_t told[TEAM_FOLLOWS + 1]; /* office_heard() counts */
};
#define OFFICE_INIT ((struct office){.bench = BENCH_INIT})

#define TWO "[{'id':'a','title':'A'},{'id':'b','title':'B','dependsOn':['a']}]"

void office_fini(struct office *o);
void office_seat(struct office *o); /* the lead, unless it sits there already */

/* How often the crew was told so. */
size_t office_heard(struct office *o, enum team_news_kind kind);

struct lead_order office_ask(struct office *o, struct lead_order order);
struct team_tasks office_tasks(struct office *o, const char *text); /* ' for " */
struct team office_begin(struct office *o, const char *tasks);      /* NULL: the model splits */
struct team office_look(struct office *o, struct task_id id);

struct task office_take(struct office *o, const struct team *team, const char *type);
void office_complete(struct office *o, const struct task *task, struct str result);

#endif
