/* cli/services.h: the servers of others that the settings name: the language model, the mail
 * server; and the secrets that they, or callers, must know.
 *
 * Thread: that of the start. What is read lives in the config's arena and is constant from then on.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLI_SERVICES_H
#define ERRAND_CLI_SERVICES_H

#include "cli/config.h"
#include "client/llm.h"
#include "client/mail.h"
#include "client/otlp.h"
#include "deliver/channel.h"

#define SERVICES_MAX 8

struct services {
    bool has_llm, has_smtp;
    struct llm_options llm;
    struct mailer_options smtp;
    struct str mail_from;
    struct webhook_keys mobile_keys; /* none: plain messages */
    struct str execute_secret;       /* absent: none */
    struct otlp_options otel;        /* its endpoint absent: no spans are sent */
    struct channel_options channels;
    struct service table[SERVICES_MAX]; /* the task types that the server does with them */
    size_t count;
};

/* Reads the secrets from where the settings say they are. A setting without the one it needs, and a
 * secret that is not there, are ERR_INVALID with the setting named. */
MUST_CHECK bool services_read(struct config *config, struct services *out, struct err *err);

/* Whether deliveries by EMAIL are made here: by [smtp], or by a handler of that type. */
bool services_mail(const struct services *services, const struct config *config);

/* The table for the worker pool: without the types that the settings push to an address. `services`
 * stays where it is as long as the workers live. */
void services_list(struct services *services, const struct config *config);

#endif
