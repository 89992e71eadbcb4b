/* tests/queue/request.c: a request under construction. See request.h.
 *
 * SPDX-License-Identifier: MIT */
#include "request.h"

#include <string.h>

size_t request_add(struct request *r, size_t parent, const char *document)
{
    struct order order = bench_order(r->b, (struct bench_order){.type = "t", .document = document});
    order.parent = parent;
    r->orders[r->count++] = order;
    return r->count; /* 1 + its place, as orders name each other */
}

void request_need(struct request *r, size_t who, struct order_need need)
{
    struct order *order = &r->orders[who - 1];
    struct order_need *more = arena_array(&r->b->arena, struct order_need, order->needs_count + 1);
    if (order->needs_count > 0) {
        memcpy(more, order->needs, order->needs_count * sizeof *more);
    }
    more[order->needs_count] = need;
    order->needs = more;
    order->needs_count++;
}

struct call *request_send(struct request *r)
{
    struct call *call = bench_call(r->b, COMMAND_CREATE);
    call->command.create = (struct command_create){r->orders, r->count};
    return bench_run(r->b, call);
}

struct task_id request_id(const struct request *r, size_t place)
{
    return r->orders[place - 1].task.id;
}

enum task_state request_state(struct request *r, size_t place)
{
    return bench_task(r->b, request_id(r, place)).state;
}

enum err_kind claim_and(struct bench *b, enum task_outcome outcome)
{
    struct task task = bench_claim(b, .worker = "w");
    CHECK(!id_none(task.id));
    return bench_finish(b, &task, outcome);
}
