/* deliver/mobile.c: a message to a phone: to a topic as ntfy has them, or as a signed webhook. See
 * channel.h.
 *
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "base/clock.h"
#include "client/post.h"
#include "deliver/channel.h"
#include "schedule/message.h"
#include "wire/base64.h"

#define TOPIC_TEXT_MAX 4000 /* bytes: what ntfy shows as a message; more becomes a file there */
#define CUT_OFF        "\xe2\x80\xa6"
#define ANSWER_SHOWN   200
#define HEADERS_MAX    6

enum { CLIENT_ERRORS = 400, SERVER_ERRORS = 500, TIMED_OUT = 408, CONFLICT = 409, TOO_MANY = 429 };

/* ---- What is sent ---- */

struct parcel {
    struct post_header headers[HEADERS_MAX];
    size_t count;
    struct str body;
};

static void add_header(struct parcel *parcel, const char *name, struct str value)
{
    parcel->headers[parcel->count++] = (struct post_header){name, value};
}

/* What is not ASCII travels in a header as RFC 2047 says, which topics understand. */
static struct str header_text(struct str line, struct arena *arena)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(4 * KIB);
    for (size_t i = 0; i < line.len; i++) {
        if ((unsigned char)line.ptr[i] >= 0x80) {
            buf_c(&text, "=?utf-8?B?");
            base64_write(&text, line);
            buf_c(&text, "?=");
            return arena_str(arena, buf_view(&text));
        }
    }
    return line;
}

static void fill_topic(struct parcel *parcel, const struct message *message, struct arena *arena)
{
    struct str title = message_line(message->title, MESSAGE_TITLE_MAX, arena);
    struct str text = str_head(message->text, TOPIC_TEXT_MAX);
    add_header(parcel, "Content-Type", STR("text/plain; charset=utf-8"));
    if (title.len > 0) {
        add_header(parcel, "Title", header_text(title, arena));
    }
    add_header(parcel, "Idempotency-Key", message->id);
    parcel->body =
        text.len < message->text.len ? arena_printf(arena, STR_FMT CUT_OFF, STR_ARG(text)) : text;
}

static void fill_webhook(struct parcel *parcel, const struct channel_options *options,
                         const struct message *message, struct arena *arena)
{
    SCOPED(buf_fini) struct buf signature = BUF_INIT(KIB);
    int64_t unix_s = clock_real_wall_ms() / SECOND_MS; /* receivers compare it with their clock */
    struct message public = *message;
    public.to = STR_NONE;
    parcel->body = message_write(&public, arena);
    webhook_sign(&options->mobile_keys, message->id, unix_s, parcel->body, &signature);
    add_header(parcel, "Content-Type", STR("application/json"));
    add_header(parcel, "webhook-id", message->id);
    add_header(parcel, "webhook-timestamp", arena_printf(arena, "%" PRId64, unix_s));
    add_header(parcel, "webhook-signature", arena_str(arena, buf_view(&signature)));
}

/* ---- What it comes to ---- */

static bool is_final(int status)
{
    return status >= CLIENT_ERRORS && status < SERVER_ERRORS && status != TIMED_OUT &&
           status != CONFLICT && status != TOO_MANY;
}

static struct service_end judge(const struct post_answer *answer, struct arena *arena)
{
    if (answer->status >= 200 && answer->status <= 299) {
        return SERVICE_DONE(STR_NONE);
    }
    struct str said = message_line(answer->body, ANSWER_SHOWN, arena);
    struct service_end end =
        SERVICE_FAIL("http_error",
                     arena_printf(arena, "the address answered %d%s" STR_FMT, answer->status,
                                  said.len > 0 ? ": " : "", STR_ARG(said)),
                     !is_final(answer->status));
    end.error.code = arena_printf(arena, "http_%d", answer->status);
    end.retry_after_ms = end.retry ? answer->retry_after_ms : 0;
    return end;
}

static struct service_end send(const struct channel_options *options,
                               const struct service_call *call, const struct message *message)
{
    struct parcel parcel = {.count = 0};
    struct post_answer answer;
    struct err err = ERR_INIT;
    if (options->mobile_keys.count > 0) {
        fill_webhook(&parcel, options, message, call->arena);
    } else {
        fill_topic(&parcel, message, call->arena);
    }
    const struct post post = {.url = message->to,
                              .headers = parcel.headers,
                              .headers_count = parcel.count,
                              .body = parcel.body,
                              .allow_private = options->allow_private,
                              .stop = call->stop};
    if (post_send(&post, call->arena, &answer, &err)) {
        return judge(&answer, call->arena);
    }
    struct str why = arena_str(call->arena, str_of(err.text));
    return err.kind == ERR_UNAVAILABLE ? SERVICE_FAIL("unreachable", why, true)
           : err.kind == ERR_REFUSED   ? SERVICE_FAIL("address_refused", why, false)
                                       : SERVICE_FAIL("invalid_address", why, false);
}

void mobile_run(void *arg, const struct service_call *call, struct service_end *end)
{
    struct message message;
    struct err err = ERR_INIT;
    if (!message_read(call->payload, call->arena, &message, &err)) {
        *end = SERVICE_FAIL("invalid_payload", arena_str(call->arena, str_of(err.text)), false);
    } else if (message.to.len == 0) {
        *end = SERVICE_FAIL("no_address", STR("deliverTo has no address for MOBILE"), false);
    } else {
        *end = send(arg, call, &message);
    }
}

void web_run(void *arg, const struct service_call *call, struct service_end *end)
{
    struct message message;
    struct err err = ERR_INIT;
    (void)arg;
    *end = message_read(call->payload, call->arena, &message, &err)
               ? SERVICE_DONE(STR_NONE)
               : SERVICE_FAIL("invalid_payload", arena_str(call->arena, str_of(err.text)), false);
}
