/* deliver/channel.h: the ways to bring a message to somebody: by mail, to the web, to a phone.
 *
 * A delivery is a task of its own with everything in its payload that sending needs
 * (schedule/message.h). Each channel is a service (queue/service.h). Sending the same message twice
 * must show as one, as far as the other side can tell: the id is the same at every try.
 *
 * Thread: a worker's; the options are constant.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_DELIVER_CHANNEL_H
#define ERRAND_DELIVER_CHANNEL_H

#include "client/mail.h"
#include "client/webhook.h"
#include "queue/service.h"

struct channel_options {
    const struct mailer_options *smtp; /* NULL: nothing can be sent by mail */
    struct str mail_from;
    struct webhook_keys mobile_keys; /* given: signed webhooks; else plain texts, as ntfy takes */
    bool allow_private;              /* [push] allow_private */
};

/* `arg` of all of them is a const struct channel_options. */
void email_run(void *arg, const struct service_call *call, struct service_end *end);
void mobile_run(void *arg, const struct service_call *call, struct service_end *end);
/* What stores the notification is the end of this task, in its transaction (schedule/delivery.c).
 */
void web_run(void *arg, const struct service_call *call, struct service_end *end);

#endif
