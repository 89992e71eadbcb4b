/* work/handlers.c: which type is run by what. See handlers.h.
 *
 * SPDX-License-Identifier: MIT */
#include "work/handlers.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "work/function.h"
#include "work/program.h"

static const struct handler built_ins[] = {
    {.type = {"noop", 4}, .kind = WORKER_RUN, .by = &by_noop},
    {.type = {"echo", 4}, .kind = WORKER_RUN, .by = &by_echo},
    {.type = {"sleep", 5}, .kind = WORKER_RUN, .by = &by_sleep},
    {.type = {"fail", 4}, .kind = WORKER_RUN, .by = &by_fail},
    {.type = {"document.append", 15},
     .kind = WORKER_RUN,
     .by = &by_function,
     .run = function_append},
};

static struct handler *find(const struct handlers *handlers, struct str type)
{
    for (size_t i = 0; i < handlers->count; i++) {
        if (str_eq(handlers->at[i].type, type)) {
            return &handlers->at[i];
        }
    }
    return NULL;
}

const struct handler *handlers_find(const struct handlers *handlers, struct str type)
{
    return find(handlers, type);
}

static struct handler *add(struct handlers *handlers, struct str type)
{
    struct handler *handler = ARRAY_PUSH(handlers->at, handlers->count, handlers->room);
    *handler = (struct handler){.type = arena_str(handlers->arena, type)};
    return handler;
}

void handlers_init(struct handlers *handlers, struct arena *arena)
{
    *handlers = (struct handlers){.arena = arena};
    for (size_t i = 0; i < ARRAY_LEN(built_ins); i++) {
        struct handler *handler = add(handlers, built_ins[i].type);
        *handler = built_ins[i];
        handler->built_in = true;
    }
}

void handlers_fini(struct handlers *handlers)
{
    for (size_t i = 0; i < handlers->files_count; i++) {
        dlclose(handlers->files[i]);
    }
    mem_free(handlers->files);
    mem_free(handlers->at);
    *handlers = (struct handlers){0};
}

static bool check_type(struct str type, struct err *err)
{
    if (type.len == 0 || type.len > TASK_TYPE_MAX || !str_is_utf8(type) || str_has_control(type)) {
        return err_set(err, ERR_INVALID,
                       "\"" STR_FMT "\" is no task type: 1 to %d bytes of UTF-8 without control "
                       "characters",
                       STR_ARG(type), TASK_TYPE_MAX);
    }
    return true;
}

bool handlers_add(struct handlers *handlers, const struct handler *handler, struct err *err)
{
    if (!check_type(handler->type, err)) {
        return false;
    }
    struct handler *place = find(handlers, handler->type);
    if (place != NULL && !place->built_in) {
        return err_set(err, ERR_CONFLICT, "the task type \"" STR_FMT "\" has two handlers",
                       STR_ARG(handler->type));
    }
    if (place == NULL) {
        place = add(handlers, handler->type);
    }
    struct str type = place->type;
    *place = *handler;
    place->type = type;
    place->built_in = false;
    return true;
}

bool handlers_add_command(struct handlers *handlers, const struct exec_command *command,
                          struct err *err)
{
    struct handler handler = {.type = command->type, .kind = WORKER_EXEC, .by = &by_program};
    return (program_new(handlers->arena, command, &handler.program, err) &&
            handlers_add(handlers, &handler, err)) ||
           err_wrap(err, "[handler." STR_FMT "]", STR_ARG(command->type));
}

bool handlers_add_service(struct handlers *handlers, const struct service *service, struct err *err)
{
    const struct handler handler = {
        .type = service->type, .kind = WORKER_RUN, .by = &by_function, .service = service};
    if (!handlers_add(handlers, &handler, err)) {
        return false;
    }
    find(handlers, service->type)->built_in = true;
    return true;
}

void handlers_seal(struct handlers *handlers)
{
    handlers->types = arena_array(handlers->arena, struct str, handlers->count);
    handlers->quick = arena_array(handlers->arena, bool, handlers->count);
    for (size_t i = 0; i < handlers->count; i++) {
        handlers->types[i] = handlers->at[i].type;
        handlers->quick[i] = handlers->at[i].by->at_once;
    }
}

/* ---- Shared objects ---- */

struct registry {
    errand_registry base;
    struct handlers *handlers;
    struct err err; /* of the first errand_add() that was refused */
    size_t added;
};

int handlers_register(errand_registry *registry, const char *type, errand_run *run)
{
    struct registry *mine = (struct registry *)registry;
    struct handler handler = {
        .type = str_of(type == NULL ? "" : type), .kind = WORKER_RUN, .by = &by_function};
    struct err err = ERR_INIT;
    handler.run = run;
    if (run == NULL) {
        err_set(&err, ERR_INVALID, "the task type \"" STR_FMT "\" was added without a run function",
                STR_ARG(handler.type));
    }
    if (run == NULL || !handlers_add(mine->handlers, &handler, &err)) {
        if (mine->err.kind == ERR_NONE) {
            mine->err = err;
        }
        return -1;
    }
    mine->added++;
    return 0;
}

static bool check_abi(void *file, struct err *err)
{
    const int *abi = dlsym(file, "errand_abi");
    if (abi == NULL) {
        return err_set(err, ERR_INVALID, "it was not built with errand/handler.h");
    }
    if (*abi < 1 || *abi > ERRAND_ABI) {
        return err_set(err, ERR_INVALID,
                       "it was built for handler ABI %d and this server speaks %d: build it again "
                       "with this server's errand/handler.h",
                       *abi, ERRAND_ABI);
    }
    return true;
}

static bool call_register(struct handlers *handlers, void *file, struct err *err)
{
    struct registry registry = {.base = {&function_calls}, .handlers = handlers};
    int (*enter)(errand_registry *) = NULL;
    *(void **)&enter = dlsym(file, "errand_register");
    if (enter == NULL) {
        return err_set(err, ERR_INVALID, "it has no function errand_register()");
    }
    int answer = enter(&registry.base);
    if (registry.err.kind != ERR_NONE) {
        *err = registry.err;
        return false;
    }
    if (answer != 0) {
        return err_set(err, ERR_INVALID, "its errand_register() returned %d", answer);
    }
    return registry.added > 0 || err_set(err, ERR_INVALID, "it registers no run function");
}

bool handlers_load(struct handlers *handlers, const char *path, struct err *err)
{
    char *whole = realpath(path, NULL); /* a bare name would be looked for in /lib */
    if (whole == NULL) {
        return err_set(err, ERR_INVALID, "handlers %s: %s", path, strerror(errno));
    }
    void *file = dlopen(whole, RTLD_NOW | RTLD_LOCAL);
    free(whole);
    if (file == NULL) {
        return err_set(err, ERR_INVALID, "handlers %s: %s", path, dlerror());
    }
    size_t count = handlers->files_count + 1;
    handlers->files = mem_array(handlers->files, count, sizeof *handlers->files);
    handlers->files[count - 1] = file;
    handlers->files_count = count;
    return (check_abi(file, err) && call_register(handlers, file, err)) ||
           err_wrap(err, "handlers %s", path);
}
