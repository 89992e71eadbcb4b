/* cli/reload.c: SIGHUP: the settings are read again, and what can change while the server runs
 * does.
 *
 * All of it or nothing: a mistake in the file, a certificate that does not fit its key, and the
 * server goes on as it was. What needs a restart is said in the log, by name. See node.h. Tokens
 * need no signal: their file is looked at by every request.
 *
 * Thread: net loop. Who else looks at a setting reads an atomic.
 *
 * SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stdatomic.h>

#include "base/log.h"
#include "base/mem.h"
#include "cli/node.h"

/* The sections whose settings are taken over; of the others a change needs a restart. */
static bool is_live(const struct setting *setting)
{
    static const char *const sections[] = {"log", "tls", "push", "limits", "redact"};
    for (size_t i = 0; i < ARRAY_LEN(sections); i++) {
        if (strcmp(setting->section, sections[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_same(const struct setting *setting, const struct config *a, const struct config *b)
{
    const void *left = (const char *)a + setting->at, *right = (const char *)b + setting->at;
    switch (setting->rule.kind) {
    case VALUE_REAL:
        return *(const double *)left == *(const double *)right;
    case VALUE_BOOL:
        return *(const bool *)left == *(const bool *)right;
    default:
        return value_is_text(setting->rule.kind)
                   ? str_absent(*(const struct str *)left) ==
                             str_absent(*(const struct str *)right) &&
                         str_eq(*(const struct str *)left, *(const struct str *)right)
                   : *(const int64_t *)left == *(const int64_t *)right;
    }
}

static size_t tell_changes(const struct config *was, const struct config *now)
{
    size_t changed = 0;
    for (size_t i = 0; i < settings_count; i++) {
        const struct setting *setting = &settings[i];
        if (is_same(setting, was, now)) {
            continue;
        }
        changed += is_live(setting);
        if (!is_live(setting)) {
            log_warn("%s%s%s%s has changed: that needs a restart", setting->section[0] ? "[" : "",
                     setting->section, setting->section[0] ? "] " : "", setting->key);
        }
    }
    return changed;
}

/* What can still be refused comes first. */
static bool prepare(const struct node *node, const struct config *now, struct redact_keys *redact,
                    struct err *err)
{
    bool was_tls = !str_absent(node->config->tls_cert), is_tls = !str_absent(now->tls_cert);
    if (was_tls != is_tls) {
        return err_set(err, ERR_INVALID, "[tls]: from http to https, or back, needs a restart");
    }
    return redact_parse(now->redact_keys, redact, err) || err_wrap(err, "[redact] keys");
}

/* Both kinds of sockets show one certificate: when it fits the first, it fits the second. */
static bool change_servers(struct node *node, const struct config *now, struct err *err)
{
    struct server_changes changes = {.tls_cert = now->tls_cert.ptr,
                                     .tls_key = now->tls_key.ptr,
                                     .connections_max = (size_t)now->limits_connections,
                                     .body_max = (size_t)now->limits_request};
    if (!server_change(node->server, &changes, err)) {
        return false;
    }
    changes.connections_max = (size_t)node->config->faktory_connections;
    changes.body_max = (size_t)node->config->faktory_line;
    return node->faktory_server == NULL || server_change(node->faktory_server, &changes, err);
}

static bool take_over(struct node *node, struct config *now, struct err *err)
{
    struct redact_keys *redact = arena_new(&now->arena, struct redact_keys);
    if (!prepare(node, now, redact, err) || !change_servers(node, now, err)) {
        return false;
    }
    atomic_store(&node->redact, redact);
    api_set_payload_max(node->api, (size_t)now->limits_payload);
    api_set_push_private(node->api, now->push_allow_private);
    loops_change(node->loops, (size_t)now->limits_payload, now->push_allow_private);
    engine_set_waiting_max(node->engine, (size_t)now->limits_waiting_claims);
    planner_set_queries_max(node->planner, now->limits_queries);
    workforce_set_push(node->work,
                       &(struct push_settings){.concurrency = (size_t)now->push_concurrency,
                                               .per_host = (size_t)now->push_per_host,
                                               .allow_private = now->push_allow_private});
    log_set_level((enum log_level)now->log_level);
    log_set_format((enum log_format)now->log_format);
    return true;
}

static void on_hangup(uv_signal_t *handle, int number)
{
    struct node *node = handle->data;
    struct config *now = mem_new(struct config);
    struct err err = ERR_INIT;
    (void)number;
    if (!node->options.reread(node->options.reread_arg, now, &err) || !take_over(node, now, &err)) {
        log_error("the settings stay as they were: %s", err.text);
        config_fini(now);
        mem_free(now);
        return;
    }
    size_t changed = tell_changes(node->config, now);
    log_info("read the settings again: %zu changed", changed);
    /* Texts of the old ones may be in use by whoever was given them at the start: both stay. */
    now->replaced = node->config;
    node->config = now;
}

void reload_start(struct node *node)
{
    mem_must(uv_signal_init(&node->loop, &node->on_hangup) == 0, "signals");
    node->on_hangup.data = node;
    if (node->options.reread != NULL) {
        uv_signal_start(&node->on_hangup, on_hangup, SIGHUP);
    }
}

void reload_end(struct node *node)
{
    while (node->config->replaced != NULL) {
        struct config *old = node->config;
        node->config = old->replaced;
        config_fini(old);
        mem_free(old);
    }
}
