/* net/events_filter.c: what a subscriber asks for. See events.h.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "net/backlog.h"
#include "net/events.h"
#include "net/filter_in.h"

/* First those of enum event_kind, in its order, then the topics in theirs. */
static const char *const kinds[] = {"state",   "progress",     "log",      "queue", "leader",
                                    "message", "notification", "schedule", NULL};
#define KINDS_OWN  5
#define KINDS_NONE (1u << 31) /* only topics were asked for */

/* ---- What is asked for ---- */

#define ROW(label, member, kind, use, ...)                                                         \
    FORM_ROW(label, struct events_filter, member, kind, FORM_SET | (use), __VA_ARGS__)

/* clang-format off */
static const struct form_row rows[] = {
    ROW("lastEventId", last_event_id, FORM_TEXT, FORM_EMPTY,
        .about = "Resume behind this event; a header does too."),
    TOKEN_ROW,
    ROW("types", kinds, FORM_WORDS, 0, .words = kinds,
        .rule = "must be a list of state, progress, log, queue, leader, message, notification, schedule",
        .about = "Only these kinds of events, comma separated; message, notification and schedule come only if asked for."),
    ROW("taskType", type, FORM_TEXT, 0, .about = "Only events of tasks of this type."),
    ROW("documentId", document, FORM_TEXT, 0, .about = "Only events of tasks of this document."),
    ROW("paceMs", pace_ms, FORM_I64, 0, .min = EVENTS_PACE_MIN_MS, .max = EVENTS_PACE_MAX_MS,
        .about = "Sent in steps of this length; of a step with more than 500 events only `skipped` with their number."),
};
/* clang-format on */
const struct form events_form = FORM(rows);
const struct form stream_form = {rows, 3};      /* what is said of a task's stream */
const struct form team_stream_form = {rows, 2}; /* and of a team's */

bool events_filter_parse(struct exchange *exchange, struct events_filter *out, struct err *err)
{
    struct events_filter filter = {0};
    if (!form_query(exchange->request.query, &events_form, &exchange->arena, &filter, err)) {
        return false;
    }
    struct str header = http_header(&exchange->request.headers, "last-event-id");
    filter.last_event_id = header.len > 0 ? header : filter.last_event_id;
    filter.topics = filter.kinds >> KINDS_OWN;
    filter.kinds &= (1u << KINDS_OWN) - 1;
    filter.kinds = filter.topics != 0 && filter.kinds == 0 ? KINDS_NONE : filter.kinds;
    *out = filter;
    return true;
}

/* ---- What is sent ---- */

static int id_order(const void *left, const void *right)
{
    const struct task_id *a = left, *b = right;
    return a->hi != b->hi ? (a->hi > b->hi) - (a->hi < b->hi) : (a->lo > b->lo) - (a->lo < b->lo);
}

/* The task that is watched, or a descendant of it: known to be, or a new child of one that is. */
static bool is_of_family(const struct events_filter *filter, const struct event *event)
{
    struct task_id task = event->task, parent = event->parent;
    return id_eq(filter->task, task) ||
           (!id_none(parent) &&
            (id_eq(filter->task, parent) ||
             bsearch(&parent, filter->family, filter->family_count, sizeof parent, id_order)));
}

/* Topics that are told as events of the whole system: of all, or of one user alone. */
static const struct {
    struct str topic, name;
    bool has_owner;
} topics[] = {
    {{"team:", 5}, {"message", 7}, false},
    {{"notifications:", 14}, {"notification", 12}, true},
    {{"schedules:", 10}, {"schedule", 8}, true},
};

static bool is_wanted(const struct events_filter *filter, const struct event *event)
{
    for (size_t i = 0; i < ARRAY_LEN(topics) && id_none(filter->task); i++) {
        if ((filter->topics & 1u << i) != 0 && str_starts(event->topic, topics[i].topic) &&
            str_eq(event->name, topics[i].name)) {
            return !topics[i].has_owner || str_absent(filter->user) ||
                   str_eq(str_from(event->topic, topics[i].topic.len), filter->user);
        }
    }
    return false;
}

bool events_match(const struct events_filter *filter, const struct event *event)
{
    if (event->kind == EVENT_CANCEL || event->kind == EVENT_SIGN_OUT ||
        event->kind == EVENT_RELEASE || event->kind == EVENT_WORKER) {
        return false; /* between nodes */
    }
    /* What is said on a topic is for its subscribers, and for those who ask for such events. */
    if (event->kind == EVENT_TOPIC || !str_absent(filter->topic)) {
        return event->kind == EVENT_TOPIC &&
               (str_absent(filter->topic) ? is_wanted(filter, event)
                                          : str_eq(filter->topic, event->topic));
    }
    return (filter->kinds == 0 || (filter->kinds & 1u << event->kind) != 0) &&
           (id_none(filter->task) || is_of_family(filter, event)) &&
           (str_absent(filter->type) || str_eq(filter->type, event->type)) &&
           (str_absent(filter->document) ||
            (!str_absent(event->document) && str_eq(filter->document, event->document)));
}

void events_filter_keep(struct events_filter *filter, struct arena *arena)
{
    struct task_id *sorted = arena_array(arena, struct task_id, filter->family_count);
    for (size_t i = 0; i < filter->family_count; i++) {
        sorted[i] = filter->family[i];
    }
    if (filter->family_count > 0) {
        qsort(sorted, filter->family_count, sizeof *sorted, id_order);
    }
    filter->family = sorted;
}
