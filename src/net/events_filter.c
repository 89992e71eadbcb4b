/* net/events_filter.c: what a subscriber asks for. See events.h.
 *
 * SPDX-License-Identifier: MIT */
#include "net/backlog.h"
#include "net/events.h"
#include "net/filter_in.h"

static const char *const kinds[] = {"state", "progress", "log", "queue", "leader", NULL};

#define ROW(label, member, kind, use, ...)                                                         \
    FORM_ROW(label, struct events_filter, member, kind, FORM_SET | (use), __VA_ARGS__)

/* clang-format off */
static const struct form_row rows[] = {
    ROW("lastEventId", last_event_id, FORM_TEXT, FORM_EMPTY,
        .about = "Resume behind this event; a header does too."),
    TOKEN_ROW,
    ROW("types", kinds, FORM_WORDS, 0, .words = kinds,
        .rule = "must be a list of state, progress, log, queue, leader",
        .about = "Only these kinds of events, comma separated."),
    ROW("taskType", type, FORM_TEXT, 0, .about = "Only events of tasks of this type."),
    ROW("documentId", document, FORM_TEXT, 0, .about = "Only events of tasks of this document."),
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
    *out = filter;
    return true;
}
