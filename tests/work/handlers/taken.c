/* tests/work/handlers/taken.c: registers a built-in type, which it may, and one type twice.
 *
 * SPDX-License-Identifier: MIT */
#include <errand/handler.h>

static int nothing(errand_task *task)
{
    (void)task;
    return 0;
}

int errand_register(errand_registry *registry)
{
    errand_add(registry, "noop", nothing);
    errand_add(registry, "mine", nothing);
    return errand_add(registry, "mine", nothing) == -1 ? 0 : 1;
}
