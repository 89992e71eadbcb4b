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

static struct exec_command *find_or_add(struct handlers *handlers, struct arena *arena,
                                        struct str type, struct err *err)
{
    for (size_t i = 0; i < handlers->count; i++) {
        if (str_eq(handlers->at[i].type, type)) {
            return &handlers->at[i];
        }
    }
    if (handlers->count == HANDLERS_MAX) {
        err_set(err, ERR_INVALID, "more than %d handlers", HANDLERS_MAX);
        return NULL;
    }
    handlers->at[handlers->count] = (struct exec_command){.type = arena_str(arena, type)};
    return &handlers->at[handlers->count++];
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

bool handlers_take(struct handlers *handlers, struct arena *arena, struct str folder,
                   struct str section, struct str key, struct str value, struct err *err)
{
    struct exec_command *command = find_or_add(handlers, arena, str_from(section, prefix.len), err);
    if (command == NULL) {
        return false;
    }
    command->folder = folder;
    if (str_is(key, "exec")) {
        command->line = arena_str(arena, value);
        return value.len > 0 || err_set(err, ERR_INVALID, "exec must name a command");
    }
    if (str_starts(key, STR("env."))) {
        return add_env(command, arena, str_from(key, 4), value, err);
    }
    if (str_starts(key, STR("limits."))) {
        return take_limit(command, str_from(key, 7), value, err);
    }
    return err_set(err, ERR_INVALID, "a handler has exec, env.NAME and limits.*");
}

bool handlers_check(const struct handlers *handlers, struct err *err)
{
    for (size_t i = 0; i < handlers->count; i++) {
        if (str_absent(handlers->at[i].line)) {
            return err_set(err, ERR_INVALID, "[handler." STR_FMT "] needs exec = COMMAND",
                           STR_ARG(handlers->at[i].type));
        }
    }
    return true;
}
