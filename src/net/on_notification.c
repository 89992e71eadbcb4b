/* net/on_notification.c: the WEB channel: what was delivered there, and that it was read.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "net/on.h"
#include "net/filter_in.h"
#include "net/schedule_in.h"

#define WORD_SCHEMA "{\"type\":\"string\",\"minLength\":1}"
#define ID_SCHEMA   "{\"type\":\"string\",\"format\":\"uuid\"}"
#define BOOL_SCHEMA "{\"type\":\"boolean\",\"default\":false}"

/* Whose notifications are meant: those of the token's user, or of the one asked for. */
static bool choose_user(const struct call *call, struct str *user, struct err *err)
{
    struct str own = call_user(call);
    if (!str_absent(own) && !str_absent(*user) && !str_eq(own, *user)) {
        return err_set(err, ERR_FORBIDDEN, "this token may only see what its own user is told");
    }
    *user = str_absent(own) ? *user : own;
    return true;
}

/* ---- The list ---- */

struct list_in {
    struct str user;
    struct task_id after;
    bool unread;
    size_t limit;
};

static bool set_user(void *into, struct str value, struct err *err)
{
    (void)err;
    ((struct list_in *)into)->user = value;
    return true;
}

static bool set_after(void *into, struct str value, struct err *err)
{
    return id_parse(value, &((struct list_in *)into)->after) ||
           err_field(err, "after", "after must be the id of a notification");
}

static bool set_unread(void *into, struct str value, struct err *err)
{
    ((struct list_in *)into)->unread = str_is(value, "true") || str_is(value, "1");
    return str_is(value, "true") || str_is(value, "false") || str_is(value, "1") ||
           str_is(value, "0") || err_field(err, "unread", "unread must be true or false");
}

static bool set_limit(void *into, struct str value, struct err *err)
{
    return limit_parse(value, &((struct list_in *)into)->limit, err);
}

static const struct param list_table[] = {
    PARAM("userId", set_user, WORD_SCHEMA, "Notifications of this user."),
    PARAM("after", set_after, ID_SCHEMA, "Those that came after this one, oldest first."),
    PARAM("unread", set_unread, BOOL_SCHEMA, "Only those that were not read yet."),
    PARAM("limit", set_limit, LIMIT_SCHEMA, "At most this many."),
};
const struct params notification_list_params = {list_table, ARRAY_LEN(list_table)};

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
    if (!call_params(call, notification_list_params, &in, err) ||
        !choose_user(call, &in.user, err)) {
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
    if (!call_params(call, no_params, NULL, err) ||
        !call_fields(call, FIELDS_NONE, true, NULL, err)) {
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

static bool set_stream_user(void *into, struct str value, struct err *err)
{
    (void)err;
    ((struct stream_in *)into)->user = value;
    return true;
}

static bool set_last_event(void *into, struct str value, struct err *err)
{
    (void)err;
    ((struct stream_in *)into)->last_event_id = value;
    return true;
}

static bool pass_over(void *into, struct str value, struct err *err)
{
    (void)into, (void)value, (void)err;
    return true;
}

static const struct param stream_table[] = {
    PARAM("userId", set_stream_user, WORD_SCHEMA, "Notifications of this user."),
    PARAM("lastEventId", set_last_event, WORD_SCHEMA,
          "Resume behind this event; a header does too."),
    PARAM("access_token", pass_over, WORD_SCHEMA, "The token, for readers that send no headers."),
};
const struct params notification_stream_params = {stream_table, ARRAY_LEN(stream_table)};

bool on_notification_stream(struct call *call, struct err *err)
{
    struct stream_in in = {.user = STR_NONE};
    if (!call_params(call, notification_stream_params, &in, err) ||
        !choose_user(call, &in.user, err)) {
        return false;
    }
    struct str header = http_header(&call->exchange->request.headers, "last-event-id");
    const struct events_filter filter = {
        .topic =
            str_absent(in.user) ? NOTIFICATIONS_OF_ALL : notification_topic(in.user, call->arena),
        .last_event_id = header.len > 0 ? header : in.last_event_id,
    };
    return events_subscribe(call->api->options.events, call->exchange, &filter, err);
}
