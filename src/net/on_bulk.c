/* net/on_bulk.c: cancelling and retrying all tasks that a filter selects.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "net/call.h"
#include "net/filter_in.h"
#include "net/on.h"

static void answer_count(struct call *call)
{
    const struct command *command = call->own;
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    json_put_i64(&w, "count", (int64_t)command->bulk.count);
    json_close_object(&w);
    call_answer(call, 200);
}

void call_bulk(struct call *call, enum bulk_verb verb, const struct task_filter *filter,
               struct str reason)
{
    struct command *command = call_command(call, COMMAND_BULK);
    command->bulk.verb = verb;
    command->bulk.filter = *filter;
    command->bulk.filter.reach = call_user(call);
    command->bulk.reason = reason;
    call->own = command;
    call->done = answer_count;
}

static bool change_all(struct call *call, enum bulk_verb verb, struct err *err)
{
    struct json json;
    struct bulk_in in = {.takes_reason = verb == BULK_CANCEL};
    if (!call_asked(call, NULL, NULL, err) || !call_json(call, &json, err) ||
        !bulk_read(&json, &in, err) || !json_end(&json, err)) {
        return false;
    }
    call_bulk(call, verb, &in.filter, in.reason);
    return true;
}

bool on_tasks_cancel(struct call *call, struct err *err)
{
    return change_all(call, BULK_CANCEL, err);
}

bool on_tasks_retry(struct call *call, struct err *err)
{
    return change_all(call, BULK_REVIVE, err);
}
