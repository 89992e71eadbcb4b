/* remote/ask.c: one question to the server over a connection that is lent. See remote.h.
 *
 * Idle connections lie in a channel: whoever needs one takes them all, keeps one and gives the rest
 * back. Somebody who finds none meanwhile opens another, which costs a handshake and no more.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#include <poll.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "remote/remote.h"
#include "wire/json.h"

struct connection {
    struct link link;
    struct client *client;
};

/* ---- Errors and times ---- */

int64_t mono_ms(void)
{
    return clock_real_mono_us() / 1000;
}

static void copy_text(char *out, size_t size, struct str text)
{
    snprintf(out, size, STR_FMT, (int)MIN(text.len, size - 1), text.len == 0 ? "" : text.ptr);
}

int fail_with(struct errand_error *out, const struct err *err)
{
    if (out != NULL) {
        const char *code = err->kind == ERR_UNAVAILABLE ? "unavailable"
                           : err->kind == ERR_TOO_LARGE ? "too_large"
                           : err->kind == ERR_BUSY      ? "busy"
                                                        : "invalid_argument";
        *out = (struct errand_error){.status = 0};
        copy_text(out->code, sizeof out->code, str_of(code));
        copy_text(out->message, sizeof out->message, str_of(err->text));
    }
    return -1;
}

static bool can_read(int fd, int64_t ms)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    return poll(&poll_fd, 1, (int)MIN(ms, INT32_MAX)) > 0;
}

bool is_interrupted(errand_client *client)
{
    return can_read(client->stop_fd, 0);
}

bool pause_for(errand_client *client, int64_t ms)
{
    return !can_read(client->stop_fd, MAX(ms, 0));
}

/* ---- Connections ---- */

static struct connection *borrow(errand_client *client, struct err *err)
{
    struct list all;
    list_init(&all);
    if (channel_take(&client->idle, &all)) {
        struct link *first = list_first(&all);
        list_remove(first);
        if (!list_empty(&all)) {
            channel_give_all(&client->idle, &all);
        }
        return HOLDER(first, struct connection, link);
    }
    struct connection *fresh = mem_new(struct connection);
    if (!client_open(&client->to, &fresh->client, err)) {
        mem_free(fresh);
        return NULL;
    }
    return fresh;
}

void ask_close(errand_client *client)
{
    struct list all;
    list_init(&all);
    (void)channel_take(&client->idle, &all);
    LIST_EACH(&all, link)
    {
        struct connection *connection = HOLDER(link, struct connection, link);
        client_close(connection->client);
        mem_free(connection);
    }
}

/* ---- What the server asks ---- */

enum errand_signal ask_signal(errand_client *client, struct str answer, struct arena *arena)
{
    struct str word = json_find_str(answer, "signal", arena);
    enum errand_signal signal = str_is(word, "stop")    ? ERRAND_STOP
                                : str_is(word, "quiet") ? ERRAND_QUIET
                                                        : ERRAND_WORK;
    if (atomic_exchange(&client->signal, (int)signal) != (int)signal && client->on_signal != NULL) {
        client->on_signal(signal, client->arg);
    }
    return signal;
}

/* ---- Asking ---- */

static void read_refusal(const struct client_answer *answer, struct arena *arena,
                         struct errand_error *out)
{
    struct str error = json_find(answer->body, "error", arena);
    struct str code = json_find_str(error, "code", arena);
    struct str message = json_find_str(error, "message", arena);
    *out = (struct errand_error){.status = answer->status};
    copy_text(out->code, sizeof out->code, code);
    copy_text(out->message, sizeof out->message, message);
    if (str_absent(message)) {
        snprintf(out->message, sizeof out->message, "the server answered %d", answer->status);
    }
}

enum told ask(errand_client *client, const struct question *question, struct arena *arena,
              struct reply *out)
{
    struct err err = ERR_INIT;
    struct client_answer answer;
    const struct client_call call = {
        .method = "POST",
        .path = str_of(question->path),
        .body = question->body,
        .limit_ms = question->limit_ms,
        .stop = question->may_stop ? &client->stop_fd : NULL,
        .hear_out = question->may_stop,
    };
    struct connection *connection = borrow(client, &err);
    bool answered =
        connection != NULL && client_call(connection->client, &call, arena, &answer, &err);
    if (connection != NULL) {
        channel_give(&client->idle, &connection->link);
    }
    *out = (struct reply){.body = STR_NONE};
    if (!answered) {
        fail_with(&out->error, &err);
        return TOLD_AWAY;
    }
    if (answer.status < 400) {
        out->body = answer.body;
        return TOLD_YES;
    }
    read_refusal(&answer, arena, &out->error);
    out->retry_after_ms = answer.retry_after_ms;
    bool later =
        answer.status == 429 || (answer.status >= 502 && answer.status <= 504); /* not 500, 501 */
    return later ? TOLD_AWAY : TOLD_NO;
}
