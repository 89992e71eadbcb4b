/* work/handlers.h: which type is run by what: built-ins, run functions of shared objects, commands.
 *
 * Filled before the workers start, constant from then on.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WORK_HANDLERS_H
#define ERRAND_WORK_HANDLERS_H

#include "work/executor.h"
#include "work/workforce.h"

struct handlers {
    struct arena *arena; /* holds the texts and the tables */
    struct handler *at;
    size_t count, room;
    void **files; /* of dlopen() */
    size_t files_count;
    struct str *types; /* after handlers_seal() */
    bool *quick;       /* beside them: run by an executor that is done at once */
};

void handlers_init(struct handlers *handlers, struct arena *arena); /* with the built-in types */
void handlers_fini(struct handlers *handlers); /* the run functions are gone after this */

/* A type that is taken is refused, unless by a built-in: whoever configures `echo` gets theirs. */
MUST_CHECK bool handlers_add(struct handlers *handlers, const struct handler *handler,
                             struct err *err);
/* A type of the server itself: built in like the others. */
MUST_CHECK bool handlers_add_service(struct handlers *handlers, const struct service *service,
                                     struct err *err);
MUST_CHECK bool handlers_add_command(struct handlers *handlers, const struct exec_command *command,
                                     struct err *err);
MUST_CHECK bool handlers_load(struct handlers *handlers, const char *path, struct err *err);
void handlers_seal(struct handlers *handlers);

const struct handler *handlers_find(const struct handlers *handlers, struct str type);

/* errand_calls.add: what a shared object calls while it is loaded. */
int handlers_register(errand_registry *registry, const char *type, errand_run *run);

#endif
