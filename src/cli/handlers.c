/* cli/handlers.c: the sections [handler.TYPE] of errand.conf. See handlers.h.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/handlers.h"

#include "cli/value.h"

static const struct str prefix = {"handler.", 8};

bool handlers_is_section(struct str section)
{
    return str_starts(section, prefix) && section.len > prefix.len;
}

static struct handler *find_or_add(struct handlers *handlers, struct arena *arena, struct str type,
                                   struct err *err)
{
    for (size_t i = 0; i < handlers->count; i++) {
        if (str_eq(handlers->at[i].command.type, type)) {
            return &handlers->at[i];
        }
    }
    if (handlers->count == HANDLERS_MAX) {
        err_set(err, ERR_INVALID, "more than %d handlers", HANDLERS_MAX);
        return NULL;
    }
    struct handler *handler = &handlers->at[handlers->count++];
    *handler = (struct handler){.command.type = arena_str(arena, type)};
    handler->push.type = handler->command.type;
    return handler;
}

static bool add_env(struct exec_command *command, struct arena *arena, struct str name,
                    struct str value, struct err *err)
{
    if (name.len == 0 || memchr(name.ptr, '=', name.len) != NULL) {
        return err_set(err, ERR_INVALID, "env.NAME needs a name");
    }
    if (command->env_count == HANDLER_ENV_MAX) {
        return err_set(err, ERR_INVALID, "more than %d env lines", HANDLER_ENV_MAX);
    }
    struct exec_env *env = arena_array(arena, struct exec_env, command->env_count + 1);
    if (command->env_count > 0) {
        memcpy(env, command->env, command->env_count * sizeof *env);
    }
    env[command->env_count++] = (struct exec_env){arena_str(arena, name), arena_str(arena, value)};
    command->env = env;
    return true;
}

static bool take_limit(struct exec_command *command, struct str name, struct str value,
                       struct err *err)
{
    static const struct {
        const char *name;
        struct value_rule rule;
        size_t at;
    } limits[] = {
        {"memory",
         {.kind = VALUE_SIZE, .least = MIB, .most = INT64_MAX / 2},
         offsetof(struct exec_command, memory_max)},
        {"cpu", {.kind = VALUE_DURATION}, offsetof(struct exec_command, cpu_max_ms)},
        {"files",
         {.kind = VALUE_NUMBER, .least = 4, .most = 1000000},
         offsetof(struct exec_command, files_max)},
    };
    for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
        if (str_is(name, limits[i].name)) {
            return value_read(&limits[i].rule, value, (char *)command + limits[i].at, err);
        }
    }
    return err_set(err, ERR_INVALID, "limits are limits.memory, limits.cpu and limits.files");
}

/* The keys that hold one text each. NULL: not one of them. */
static struct str *text_of(struct handler *handler, struct str key)
{
    return str_is(key, "exec")            ? &handler->command.line
           : str_is(key, "url")           ? &handler->push.url
           : str_is(key, "secret")        ? &handler->push.secrets
           : str_is(key, "authorization") ? &handler->push.authorization
           : str_is(key, "cloudevents")   ? &handler->push.cloudevents
                                          : NULL;
}

bool handlers_take(struct handlers *handlers, struct arena *arena, struct str folder,
                   const struct ini_pair *pair, struct err *err)
{
    struct str key = pair->key;
    /* A command's quotes are for the words of its line: work/words.h takes them off. */
    struct str value = str_is(key, "exec") ? pair->value : ini_unquote(arena, pair->value);
    struct handler *handler =
        find_or_add(handlers, arena, str_from(pair->section, prefix.len), err);
    struct str *text = handler == NULL ? NULL : text_of(handler, key);
    if (handler == NULL) {
        return false;
    }
    handler->command.folder = folder;
    if (text != NULL) {
        *text = arena_str(arena, value);
        return value.len > 0 || err_set(err, ERR_INVALID, "it must not be empty");
    }
    if (str_starts(key, STR("env."))) {
        return add_env(&handler->command, arena, str_from(key, 4), value, err);
    }
    if (str_starts(key, STR("limits."))) {
        return take_limit(&handler->command, str_from(key, 7), value, err);
    }
    return err_set(err, ERR_INVALID,
                   "a handler has exec, env.NAME and limits.*, or url, secret, authorization and "
                   "cloudevents");
}

bool handlers_check(const struct handlers *handlers, struct err *err)
{
    for (size_t i = 0; i < handlers->count; i++) {
        const struct handler *handler = &handlers->at[i];
        bool runs = !str_absent(handler->command.line), pushes = !str_absent(handler->push.url);
        if (runs == pushes) {
            return err_set(err, ERR_INVALID,
                           "[handler." STR_FMT "] needs exec = COMMAND or url = ADDRESS%s",
                           STR_ARG(handler->command.type), runs ? ", not both" : "");
        }
    }
    return true;
}
