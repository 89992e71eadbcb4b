/* net/events_filter.c: what a subscriber asks for. See events.h.
 *
 * SPDX-License-Identifier: MIT */
#include "net/backlog.h"
#include "net/events.h"
#include "wire/uri.h"

static bool kind_parse(struct str name, unsigned *kinds)
{
    for (enum event_kind kind = 0; kind < EVENT_TOPIC; kind++) {
        if (str_is(name, event_kind_name(kind))) {
            *kinds |= 1u << kind;
            return true;
        }
    }
    return false;
}

static bool kinds_parse(struct str list, unsigned *kinds, struct err *err)
{
    while (!str_absent(list)) {
        if (!kind_parse(str_cut(&list, ','), kinds)) {
            return err_field(err, "types",
                             "types must be a list of state, progress, log, queue, "
                             "leader");
        }
    }
    return true;
}

static bool take_pair(struct events_filter *filter, struct str key, struct str value,
                      struct arena *arena, struct err *err)
{
    if (str_is(key, "types")) {
        return kinds_parse(value, &filter->kinds, err);
    }
    if (str_is(key, "taskType")) {
        filter->type = value;
    } else if (str_is(key, "documentId")) {
        filter->document = value;
    } else if (str_is(key, "lastEventId")) {
        filter->last_event_id = value;
    } else if (!str_is(key, "access_token")) {
        return err_field(err, arena_c_text(arena, key), STR_FMT " is not a known parameter",
                         STR_ARG(key));
    }
    return true;
}

bool events_filter_parse(struct exchange *exchange, struct events_filter *out, struct err *err)
{
    struct arena *arena = &exchange->arena;
    struct events_filter filter = {0};
    struct str query = exchange->request.query, key, value;
    while (uri_pair(&query, arena, &key, &value, err)) {
        if (!take_pair(&filter, key, value, arena, err)) {
            return false;
        }
    }
    if (!str_absent(query)) {
        return false; /* uri_pair() has said why */
    }
    struct str header = http_header(&exchange->request.headers, "last-event-id");
    filter.last_event_id = header.len > 0 ? header : filter.last_event_id;
    *out = filter;
    return true;
}
