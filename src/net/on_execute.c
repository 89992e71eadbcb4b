/* net/on_execute.c: an outside scheduler fires a schedule, by a secret instead of a token.
 *
 * The secret is looked at before anything else that the body says, in constant time.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include <openssl/crypto.h>
#include <openssl/sha.h>

#include "net/on.h"
#include "net/schedule_in.h"
#include "net/task_out.h"

#define TASK_NAME     "x-cloudtasks-taskname"
#define TASK_NAME_MAX 512 /* bytes */

struct execute {
    struct str schedule, secret, chat, purpose;
    bool wakes;
    struct planner_order order;
};

/* Equal texts have equal hashes, and hashes have one length: the time tells nothing. */
static bool same_secret(struct str a, struct str b)
{
    unsigned char one[SHA256_DIGEST_LENGTH], other[SHA256_DIGEST_LENGTH];
    if (a.len == 0 || b.len == 0) {
        return false;
    }
    SHA256((const unsigned char *)a.ptr, a.len, one);
    SHA256((const unsigned char *)b.ptr, b.len, other);
    return CRYPTO_memcmp(one, other, sizeof one) == 0;
}

#define ROW(label, member, kind, ...)                                                              \
    FORM_ROW(label, struct execute, member, kind, FORM_SET | FORM_NULL, __VA_ARGS__)

static const struct form_row rows[] = {
    ROW("taskId", schedule, FORM_TEXT, 0),
    ROW("chatId", chat, FORM_TEXT, .max = SCHEDULE_NAME_MAX),
    ROW("purposeOfTask", purpose, FORM_TEXT, .max = SCHEDULE_PURPOSE_MAX),
    ROW("isAWakeUpCall", wakes, FORM_BOOL, 0),
};

/* Whoever was wrong too often waits, and what it sends meanwhile is not looked at. */
static bool check_patience(struct call *call, uint64_t peer, int64_t now_ms, struct err *err)
{
    int64_t wait_ms = guess_wait_ms(&call->api->guess, peer, now_ms);
    if (wait_ms == 0) {
        return true;
    }
    err_set(err, ERR_BUSY, "too many wrong secrets: try again later");
    err->retry_after_ms = wait_ms;
    return false;
}

static bool check_secret(struct call *call, struct err *err)
{
    struct guess *guess = &call->api->guess;
    uint64_t peer = exchange_peer(call->exchange);
    int64_t now_ms = (int64_t)uv_now(call->api->options.loop);
    struct str body = call->exchange->request.body;
    struct err ignored = ERR_INIT;
    struct json json;
    bool there = call_json(call, &json, err);
    struct str given =
        there && json_valid(body, &ignored) ? json_find_str(body, "secret", call->arena) : STR_NONE;
    if (!there) {
        return false; /* nothing to look at: 415 or 400 */
    }
    if (!check_patience(call, peer, now_ms, err)) {
        return false;
    }
    if (!same_secret(given, call->api->options.execute_secret)) {
        guess_wrong(guess, peer, now_ms);
        call->headers = STR(""); /* no challenge: a token is not what is missing */
        return err_set(err, ERR_DENIED, "the secret is not the one of [execute] secret");
    }
    guess_right(guess, peer);
    return true;
}

static void answer(struct call *call)
{
    const struct execute *execute = call->own;
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    json_put_bool(&w, "success", true);
    if (execute->wakes) {
        json_put_bool(&w, "isWakeUpCall", true);
    } else {
        id_put(&w, "executionId", execute->order.execution);
    }
    json_close_object(&w);
    call_answer(call, 200);
}

static bool fill_order(struct call *call, struct execute *execute, struct err *err)
{
    struct str name = http_header(&call->exchange->request.headers, TASK_NAME);
    if (str_absent(execute->schedule)) {
        return err_field(err, "taskId", "taskId is required");
    }
    execute->order = (struct planner_order){
        .verb = execute->wakes ? PLANNER_REPLAN : PLANNER_RUN,
        .chat = execute->chat,
        .purpose = execute->purpose,
        .key = name.len > 0 ? name : STR_NONE,
    };
    if (name.len > TASK_NAME_MAX) {
        return err_field(err, "X-CloudTasks-TaskName", "the task's name is over %d bytes",
                         TASK_NAME_MAX);
    }
    return id_parse(execute->schedule, &execute->order.id) ||
           err_set(err, ERR_NOT_FOUND, "there is no such schedule");
}

bool on_execute(struct call *call, struct err *err)
{
    static const struct form form = FORM(rows);
    struct execute *execute = arena_new(call->arena, struct execute);
    struct json json;
    /* What is not ours in the body is passed over: others' requests carry more. */
    if (!check_secret(call, err) || !call_asked(call, NULL, NULL, err) ||
        !call_json(call, &json, err) ||
        !form_load(call->exchange->request.body, &form, call->arena, execute, err) ||
        !fill_order(call, execute, err)) {
        return false;
    }
    call->own = execute;
    call->done = answer;
    planner_ask(call->api->parts.planner, call_command(call, COMMAND_GUEST), &execute->order);
    return true;
}
