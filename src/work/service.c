/* work/service.c: runs what rooms of the server itself do (queue/service.h) as run functions are
 * run.
 *
 * Thread: the slot's.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "work/function.h"

struct serving {
    struct service_call call; /* first: what the service sees */
    struct function *function;
};

static void tell(const struct service_call *call, double percent, struct str message)
{
    const struct serving *serving = (const struct serving *)call;
    SCOPED(mem_free_at)
    char *text = str_absent(message) ? NULL : mem_text(message.ptr, message.len);
    errand_progress(&serving->function->base, percent, text);
}

int function_serve(struct function *function)
{
    const struct service *service = function->service;
    struct serving serving = {.call = {.id = function->task,
                                       .attempt = function->attempt,
                                       .payload = function->payload,
                                       .stop = &function->abort_fd,
                                       .arena = &function->arena,
                                       .tell = tell},
                              .function = function};
    function->end = SERVICE_FAIL("failed", STR("it ended without a word"), true);
    service->run(service->arg, &serving.call, &function->end);
    return 0;
}

/* Each attempt costs: the task has the sum. */
struct job_end function_served(const struct function *function, const struct task_cost *before)
{
    const struct service_end *end = &function->end;
    return (struct job_end){
        .completed = end->completed,
        .result = end->result,
        .error = end->error,
        .retry = end->retry,
        .retry_after_ms = end->retry_after_ms,
        .costs = end->queries >= 0 || end->tokens >= 0,
        .cost = {.estimated = -1,
                 .actual = end->queries < 0 ? -1 : MAX(before->actual, 0) + end->queries,
                 .tokens = end->tokens < 0 ? -1 : MAX(before->tokens, 0) + end->tokens}};
}
