/* deliver/email.c: a message as a mail. See channel.h.
 *
 * SPDX-License-Identifier: MIT */
#include "deliver/channel.h"
#include "schedule/message.h"

#define NO_TITLE STR("Errand")

static void mailer_close_at(struct mailer **mailer)
{
    mailer_close(*mailer);
}

/* The id names the host that our mails come from, as such ids do. */
static struct str message_id(const struct message *message, struct str from, struct arena *arena)
{
    struct mail_address address;
    struct err ignored = ERR_INIT;
    struct str host = STR("errand.invalid");
    if (mail_address_read(from, "from", &address, &ignored)) {
        host = address.address;
        (void)str_cut(&host, '@');
    }
    return arena_printf(arena, STR_FMT "@" STR_FMT, STR_ARG(message->id), STR_ARG(host));
}

static struct service_end judge(const struct err *err, struct arena *arena)
{
    struct str why = arena_str(arena, str_of(err->text));
    return err->kind == ERR_UNAVAILABLE ? SERVICE_FAIL("smtp_unavailable", why, true)
           : err->kind == ERR_REFUSED   ? SERVICE_FAIL("smtp_refused", why, false)
                                        : SERVICE_FAIL("invalid_mail", why, false);
}

static struct service_end send(const struct channel_options *options,
                               const struct service_call *call, const struct message *message)
{
    SCOPED(mailer_close_at) struct mailer *mailer = NULL;
    struct err err = ERR_INIT;
    struct str title = message_line(message->title, MESSAGE_TITLE_MAX, call->arena);
    const struct mail mail = {
        .from = options->mail_from,
        .to = message->to,
        .subject = title.len > 0 ? title : NO_TITLE,
        .text = message->text,
        .message_id = message_id(message, options->mail_from, call->arena),
        .date_ms = message->at_ms,
    };
    return mailer_open(options->smtp, &mailer, &err) && mailer_send(mailer, &mail, call->stop, &err)
               ? SERVICE_DONE(STR_NONE)
               : judge(&err, call->arena);
}

void email_run(void *arg, const struct service_call *call, struct service_end *end)
{
    const struct channel_options *options = arg;
    struct message message;
    struct err err = ERR_INIT;
    if (!message_read(call->payload, call->arena, &message, &err)) {
        *end = SERVICE_FAIL("invalid_payload", arena_str(call->arena, str_of(err.text)), false);
    } else if (options->smtp == NULL) {
        *end = SERVICE_FAIL("no_mail_server",
                            STR("no mail server is configured: [smtp] url and from"), false);
    } else if (message.to.len == 0) {
        *end = SERVICE_FAIL("no_address", STR("deliverTo has no address for EMAIL"), false);
    } else {
        *end = send(options, call, &message);
    }
}
