/* net/on_notification.c: the WEB channel: what was delivered there, and that it was read.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "net/on.h"
#include "net/filter_in.h"
#include "net/schedule_in.h"

#define OWN "what its own user is told"

/* ---- The list ---- */

struct list_in {
    struct str user;
    struct task_id after;
    bool unread;
    size_t limit;
};

static const struct form_row list_rows[] = {
    FORM_ROW("userId", struct list_in, user, FORM_TEXT, FORM_SET,
             .about = "Notifications of this user."),
    FORM_ROW("after", struct list_in, after, FORM_ID, FORM_SET,
             .rule = "must be the id of a notification",
             .about = "Those that came after this one, oldest first."),
    FORM_ROW("unread", struct list_in, unread, FORM_BOOL, FORM_SET | FORM_DEFAULT,
             .about = "Only those that were not read yet."),
    LIMIT_ROW(struct list_in, limit, "At most this many."),
};
const struct form notification_list_form = FORM(list_rows);

static void answer_list(struct call *call)
{
    const struct records *found = &((struct query *)call->own)->records;
    struct json_writer w = call_writer(call);
    json_open_array(&w);
    for (size_t i = 0; i < found->count; i++) {
        struct notification notification;
        if (notification_load(&found->at[i], call->arena, &notification, &call->failure)) {
            notification_write(&w, &notification);
        }
    }
    json_close_array(&w);
    if (call->failure.kind != ERR_NONE) {
        call_fail(call, &call->failure);
        return;
    }
    call_answer(call, 200);
}

bool on_notification_list(struct call *call, struct err *err)
{
    struct list_in in = {.limit = LIST_LIMIT_DEFAULT};
    if (!call_asked(call, &notification_list_form, &in, err) ||
        !call_choose_user(call, OWN, &in.user, err)) {
        return false;
    }
    struct query *query = call_query(call, QUERY_RECORDS);
    query->record_filter = (struct record_filter){
        .kind = RECORD_NOTIFICATION,
        .owner = in.user,
        .marks = in.unread ? 1u << NOTIFICATION_UNREAD : 0,
        .after = in.after,
        .oldest_first = !id_none(in.after),
        .limit = in.limit,
    };
    call->own = query;
    call->done = answer_list;
    call_ask(call, query);
    return true;
}

/* ---- Reading ---- */

static void answer_read(struct call *call)
{
    struct json_writer w = call_writer(call);
    notification_write(&w, &((struct notification_order *)call->own)->notification);
    call_answer(call, 200);
}

bool on_notification_read(struct call *call, struct err *err)
{
    struct notification_order *order = arena_new(call->arena, struct notification_order);
    if (!id_parse(call->name, &order->id) || id_none(order->id)) {
        return err_set(err, ERR_NOT_FOUND, "there is no such notification");
    }
    if (!call_asked(call, NULL, NULL, err) ||
        !call_body(call, &form_nothing, true, NULL, NULL, err)) {
        return false;
    }
    order->owner = call_user(call);
    call->own = order;
    call->done = answer_read;
    planner_ask_read(call->api->parts.planner, call_command(call, COMMAND_GUEST), order);
    return true;
}

/* ---- The stream ---- */

struct stream_in {
    struct str user, last_event_id;
};

static const struct form_row stream_rows[] = {
    FORM_ROW("userId", struct stream_in, user, FORM_TEXT, FORM_SET,
             .about = "Notifications of this user."),
    FORM_ROW("lastEventId", struct stream_in, last_event_id, FORM_TEXT, FORM_SET,
             .about = "Resume behind this event; a header does too."),
    TOKEN_ROW,
};
const struct form notification_stream_form = FORM(stream_rows);

bool on_notification_stream(struct call *call, struct err *err)
{
    struct stream_in in = {.user = STR_NONE};
    if (!call_asked(call, &notification_stream_form, &in, err) ||
        !call_choose_user(call, OWN, &in.user, err)) {
        return false;
    }
    struct str header = http_header(&call->exchange->request.headers, "last-event-id");
    struct events_filter filter = {
        .topic =
            str_absent(in.user) ? NOTIFICATIONS_OF_ALL : notification_topic(in.user, call->arena),
        .last_event_id = header.len > 0 ? header : in.last_event_id,
    };
    return call_subscribe(call, &filter, err);
}
