/* cli/services.c: the servers of others that the settings name. See services.h.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/services.h"

#include "assist/prompt.h"
#include "client/secret.h"
#include "wire/uri.h"

static bool needs(struct str given, struct str needed, const char *section, const char *key,
                  struct err *err)
{
    return str_absent(given) || !str_absent(needed) ||
           err_set(err, ERR_INVALID, "[%s] needs %s", section, key);
}

static bool check_url(struct str url, const char *what, struct err *err)
{
    struct uri uri;
    return uri_parse(url, &uri, err) || err_wrap(err, "%s", what);
}

static bool read_llm(struct config *config, struct services *out, struct err *err)
{
    const struct secret_place key = {config->llm_key_env, config->llm_key_file};
    out->has_llm = !str_absent(config->llm_base_url);
    out->llm = (struct llm_options){.base_url = config->llm_base_url, .model = config->llm_model};
    if (!out->has_llm) {
        return needs(config->llm_model, config->llm_base_url, "llm", "base_url", err);
    }
    return needs(config->llm_base_url, config->llm_model, "llm", "model", err) &&
           check_url(config->llm_base_url, "[llm] base_url", err) &&
           (secret_read(&key, &config->arena, &out->llm.api_key, err) || err_wrap(err, "[llm]"));
}

/* In the order of STARTTLS_WORDS. */
static const enum mail_tls tls_of[] = {
    MAIL_TLS_OPTIONAL, MAIL_TLS_REQUIRED, MAIL_TLS_NONE,     MAIL_TLS_REQUIRED, MAIL_TLS_NONE,
    MAIL_TLS_REQUIRED, MAIL_TLS_NONE,     MAIL_TLS_REQUIRED, MAIL_TLS_NONE,
};

static bool read_smtp(struct config *config, struct services *out, struct err *err)
{
    const struct secret_place password = {config->smtp_password_env, config->smtp_password_file};
    struct mail_address from;
    out->has_smtp = !str_absent(config->smtp_url);
    out->mail_from = config->smtp_from;
    out->smtp = (struct mailer_options){.url = config->smtp_url,
                                        .username = config->smtp_username,
                                        .starttls = tls_of[config->smtp_starttls]};
    if (!out->has_smtp) {
        return needs(config->smtp_from, config->smtp_url, "smtp", "url", err);
    }
    return needs(config->smtp_url, config->smtp_from, "smtp", "from", err) &&
           check_url(config->smtp_url, "[smtp] url", err) &&
           ((mail_address_read(config->smtp_from, "from", &from, err) &&
             secret_read(&password, &config->arena, &out->smtp.password, err)) ||
            err_wrap(err, "[smtp]"));
}

static bool read_otel(struct config *config, struct services *out, struct err *err)
{
    out->otel = (struct otlp_options){.endpoint = config->otel_endpoint,
                                      .headers = config->otel_headers,
                                      .service = config->otel_service,
                                      .instance = STR_NONE};
    return str_absent(config->otel_endpoint)
               ? needs(config->otel_headers, config->otel_endpoint, "otel", "endpoint", err)
               : otlp_check(&out->otel, err);
}

bool services_read(struct config *config, struct services *out, struct err *err)
{
    *out = (struct services){.execute_secret = config->execute_secret};
    return read_llm(config, out, err) && read_smtp(config, out, err) &&
           read_otel(config, out, err) &&
           (webhook_read_keys(config->mobile_secret, &config->arena, &out->mobile_keys, err) ||
            err_wrap(err, "[mobile] secret"));
}

/* ---- What the server does with them ---- */

static bool is_pushed(const struct config *config, struct str type)
{
    for (size_t i = 0; i < config->handlers.count; i++) {
        const struct push_handler *push = &config->handlers.at[i].push;
        if (!str_absent(push->url) && str_eq(push->type, type)) {
            return true;
        }
    }
    return false;
}

bool services_mail(const struct services *services, const struct config *config)
{
    for (size_t i = 0; i < config->handlers.count; i++) {
        if (str_is(config->handlers.at[i].command.type, "deliver.email")) {
            return true;
        }
    }
    return services->has_smtp;
}

/* Without a model nobody here does prompts: a worker outside may. */
void services_list(struct services *services, const struct config *config)
{
    const struct service all[] = {
        {STR("prompt"), prompt_run, &services->llm},
        {STR("remind"), remind_run, NULL},
        {STR("deliver.email"), email_run, &services->channels},
        {STR("deliver.mobile"), mobile_run, &services->channels},
        {STR("deliver.web"), web_run, &services->channels},
    };
    services->channels =
        (struct channel_options){.smtp = services->has_smtp ? &services->smtp : NULL,
                                 .mail_from = services->mail_from,
                                 .mobile_keys = services->mobile_keys,
                                 .allow_private = config->push_allow_private};
    for (size_t i = services->has_llm ? 0 : 1; i < ARRAY_LEN(all); i++) {
        if (!is_pushed(config, all[i].type)) {
            services->table[services->count++] = all[i];
        }
    }
}
