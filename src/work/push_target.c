/* work/push_target.c: where each type is pushed, read from the configuration.
 *
 * Thread: whoever starts the workers; constant from then on.
 *
 * SPDX-License-Identifier: MIT */
#include "base/log.h"
#include "client/guard.h"
#include "wire/uri.h"
#include "work/push_parts.h"

#define AUTHORIZATION_MAX (8 * KIB)

struct push_target *push_target_find(struct push *push, struct str type)
{
    for (size_t i = 0; i < push->targets_count; i++) {
        if (str_eq(push->targets[i].type, type)) {
            return &push->targets[i];
        }
    }
    return NULL;
}

static struct push_host *host_of(struct push *push, const struct uri *uri)
{
    struct str name = arena_printf(&push->work->arena, STR_FMT "://" STR_FMT ":%u",
                                   STR_ARG(uri->scheme), STR_ARG(uri->host), uri->port);
    for (size_t i = 0; i < push->hosts_count; i++) {
        if (str_eq_nocase(push->hosts[i].name, name)) {
            return &push->hosts[i];
        }
    }
    push->hosts[push->hosts_count] = (struct push_host){.name = name};
    return &push->hosts[push->hosts_count++];
}

static bool check_type(const struct push *push, struct str type, struct err *err)
{
    if (type.len == 0 || type.len > TASK_TYPE_MAX || !str_is_utf8(type) || str_has_control(type)) {
        return err_set(err, ERR_INVALID, "this is no task type");
    }
    for (size_t i = 0; i < push->targets_count; i++) {
        if (str_eq(push->targets[i].type, type)) {
            return err_set(err, ERR_CONFLICT, "the task type has two handlers");
        }
    }
    /* Two that claim it would take turns by chance. */
    return handlers_find(&push->work->handlers, type) == NULL ||
           err_set(err, ERR_INVALID, "url: this type already runs inside the server");
}

static bool check_url(struct str url, struct uri *uri, struct err *err)
{
    if (str_has_control(url) || !uri_parse(url, uri, err)) {
        return err_set(err, ERR_INVALID, "url: this is no URL");
    }
    if (!str_eq_nocase(uri->scheme, STR("http")) && !str_eq_nocase(uri->scheme, STR("https"))) {
        return err_set(err, ERR_INVALID, "url: only http:// and https:// are pushed to");
    }
    return str_absent(uri->userinfo) ||
           err_set(err, ERR_INVALID, "url: a user belongs into `authorization`, not into the URL");
}

static bool check_authorization(struct str text, struct err *err)
{
    return (text.len <= AUTHORIZATION_MAX && !str_has_control(text)) ||
           err_set(err, ERR_INVALID,
                   "authorization: too long for a header, or it has control characters");
}

/* It becomes a part of a path. */
static bool check_instance(struct str name, struct err *err)
{
    return str_absent(name) ||
           (task_queue_name_ok(name) && memchr(name.ptr, '/', name.len) == NULL) ||
           err_set(err, ERR_INVALID, "cloudevents: the name of this instance, of [A-Za-z0-9_.:-]");
}

/* What works, but perhaps not as it is meant. */
static void warn(const struct push *push, const struct push_target *target, const struct uri *uri)
{
    struct err refused = ERR_INIT;
    if (!guard_check_host(uri->host, push->allow_private, &refused)) {
        bool may_be_allowed = guard_check_host(uri->host, true, NULL);
        log_warn("[handler." STR_FMT "] url: %s: its tasks will fail%s", STR_ARG(target->type),
                 refused.text, may_be_allowed ? " without `[push] allow_private = true`" : "");
    }
    for (size_t i = 0; i < target->keys.count; i++) {
        if (target->keys.key[i].len < WEBHOOK_KEY_GOOD) {
            log_warn("[handler." STR_FMT "] secret: shorter than %d bytes, which is easy to guess",
                     STR_ARG(target->type), WEBHOOK_KEY_GOOD);
        }
    }
}

static bool read_one(struct push *push, const struct push_handler *handler, struct err *err)
{
    struct push_target *target = &push->targets[push->targets_count];
    struct uri uri;
    if (!check_type(push, handler->type, err) || !check_url(handler->url, &uri, err) ||
        !check_authorization(handler->authorization, err) ||
        !check_instance(handler->cloudevents, err) ||
        !webhook_read_keys(handler->secrets, &push->work->arena, &target->keys, err)) {
        return err_wrap(err, "[handler." STR_FMT "]", STR_ARG(handler->type));
    }
    target->type = arena_str(&push->work->arena, handler->type);
    target->url = arena_c_text(&push->work->arena, handler->url);
    target->authorization = arena_str(&push->work->arena, handler->authorization);
    target->cloudevents = arena_str(&push->work->arena, handler->cloudevents);
    target->host = host_of(push, &uri);
    push->targets_count++;
    warn(push, target, &uri);
    return true;
}

bool push_targets_read(struct push *push, const struct push_settings *settings, struct err *err)
{
    size_t count = settings->handlers_count;
    push->targets = arena_array(&push->work->arena, struct push_target, count);
    push->hosts = arena_array(&push->work->arena, struct push_host, count);
    for (size_t i = 0; i < count; i++) {
        if (!read_one(push, &settings->handlers[i], err)) {
            return false;
        }
    }
    return true;
}
