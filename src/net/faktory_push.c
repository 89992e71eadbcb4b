/* net/faktory_push.c: PUSH and PUSHB: jobs become tasks.
 *
 * Plain jobs are created together. One that is unique, or depends on others, comes after them and
 * by itself: what it depends on may have been pushed by the same line, and is looked up by its jid.
 * A bad job stops no other.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "net/faktory_parts.h"
#include "net/faktory_unique.h"

#define DEPENDS_MAX 1000 /* jids of one job */

struct push {
    struct faktory_job job;
    struct order *order;
    struct err err;         /* why it was not pushed */
    struct command *create; /* of a plain job: the command that it is in */
};

struct pushes {
    struct push *at;
    size_t count;
    size_t next;          /* of those that come one by one */
    struct query **asked; /* what it depends on */
    struct str *jids;
    size_t jids_count;
    bool many;
};

static bool comes_alone(const struct push *push)
{
    return push->job.known.unique_for > 0 || !str_absent(push->job.known.depends_on);
}

/* ---- The answer ---- */

/* Refused because another has the lock of what is unique. */
static bool is_taken(const struct push *push)
{
    return push->err.kind == ERR_CONFLICT && push->job.known.unique_for > 0;
}

static void answer_many(struct faktory_op *op, const struct pushes *pushes)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(SIZE_MAX / 2);
    struct json_writer w = JSON_WRITER(&text);
    json_open_object(&w);
    for (size_t i = 0; i < pushes->count; i++) {
        const struct push *push = &pushes->at[i];
        if (push->err.kind != ERR_NONE) {
            json_key_str(&w, str_absent(push->job.jid) ? STR("") : push->job.jid);
            json_add_str(&w,
                         is_taken(push) ? STR("NOTUNIQUE Job not unique") : str_of(push->err.text));
        }
    }
    json_close_object(&w);
    op_bulk(op, buf_view(&text));
}

static void answer_pushes(struct faktory_op *op)
{
    const struct pushes *pushes = op->own;
    const struct push *first = &pushes->at[0];
    if (pushes->many) {
        answer_many(op, pushes);
    } else if (first->err.kind == ERR_NONE) {
        op_ok(op);
    } else if (is_taken(first)) {
        op_error(op, "NOTUNIQUE", STR("Job not unique"));
    } else {
        op_fail(op, &first->err);
    }
}

/* ---- One by one ---- */

static void go_on(struct faktory_op *op);

static void created_alone(struct faktory_op *op)
{
    struct pushes *pushes = op->own;
    pushes->at[pushes->next++].err = op->failure;
    op->failure = ERR_INIT;
    go_on(op);
}

static void create_alone(struct faktory_op *op, struct push *push)
{
    op->back = created_alone;
    if (push->job.known.unique_for > 0) {
        unique_give(op, &push->job, push->order);
    } else {
        op_command(op, COMMAND_CREATE)->create = (struct command_create){push->order, 1};
    }
}

/* Everything that it depends on was looked for. */
static void looked_for(struct faktory_op *op)
{
    struct pushes *pushes = op->own;
    struct push *push = &pushes->at[pushes->next];
    struct order_need *needs = arena_array(&op->arena, struct order_need, pushes->jids_count);
    for (size_t i = 0; i < pushes->jids_count && op->failure.kind == ERR_NONE; i++) {
        const struct task *task;
        if (op_found(pushes->asked[i], &task, 1) == 0) {
            err_field(&op->failure, "custom.depends_on", "custom.depends_on: no job " STR_FMT,
                      (int)MIN(pushes->jids[i].len, (size_t)FAKTORY_ECHO_MAX), pushes->jids[i].ptr);
        } else {
            needs[i].id = task->id;
        }
    }
    if (op->failure.kind != ERR_NONE) {
        created_alone(op);
        return;
    }
    push->order->needs = needs;
    push->order->needs_count = pushes->jids_count;
    create_alone(op, push);
}

static bool read_depends(struct faktory_op *op, struct pushes *pushes, struct str value,
                         struct err *err)
{
    struct json json;
    json_start(&json, value, &op->arena);
    bool list = json_peek(&json) == JSON_ARRAY;
    pushes->jids = NULL;
    pushes->jids_count = 0;
    bool ok = !list || json_enter_array(&json, NULL);
    while (ok && pushes->jids_count < DEPENDS_MAX && (!list || json_item(&json, NULL))) {
        struct str *jid = ARENA_PUSH(&op->arena, pushes->jids, pushes->jids_count);
        ok = json_peek(&json) == JSON_STRING && json_str(&json, jid, NULL);
        if (!list) {
            break;
        }
    }
    return (ok && json_end(&json, NULL)) ||
           err_field(err, "custom.depends_on",
                     "custom.depends_on must be a jid or an array of at most %d of them",
                     DEPENDS_MAX);
}

/* The next of those that come one by one, or the answer. */
static void go_on(struct faktory_op *op)
{
    struct pushes *pushes = op->own;
    while (pushes->next < pushes->count && (pushes->at[pushes->next].err.kind != ERR_NONE ||
                                            !comes_alone(&pushes->at[pushes->next]))) {
        pushes->next++;
    }
    if (pushes->next == pushes->count) {
        answer_pushes(op);
        return;
    }
    struct push *push = &pushes->at[pushes->next];
    struct str depends = push->job.known.depends_on;
    if (str_absent(depends)) {
        create_alone(op, push);
        return;
    }
    if (!read_depends(op, pushes, depends, &op->failure) || pushes->jids_count == 0) {
        pushes->jids_count = 0;
        looked_for(op);
        return;
    }
    op->back = looked_for;
    op->pending++; /* none of them may call back before all are asked */
    pushes->asked = arena_array(&op->arena, struct query *, pushes->jids_count);
    for (size_t i = 0; i < pushes->jids_count; i++) {
        pushes->asked[i] = op_find(op, pushes->jids[i], 0, 1);
    }
    if (--op->pending == 0) {
        looked_for(op);
    }
}

/* ---- Together ---- */

static void created_together(struct faktory_op *op)
{
    struct pushes *pushes = op->own;
    for (size_t i = 0; i < pushes->count; i++) {
        struct push *push = &pushes->at[i];
        if (push->create != NULL && push->create->err.kind != ERR_NONE) {
            push->err = push->create->err;
        }
    }
    op->failure = ERR_INIT;
    go_on(op);
}

/* `orders`: those of the plain jobs, side by side. */
static void create_together(struct faktory_op *op, struct pushes *pushes, struct order *orders)
{
    struct command *create = NULL;
    op->back = created_together;
    for (size_t i = 0; i < pushes->count; i++) {
        struct push *push = &pushes->at[i];
        if (push->err.kind != ERR_NONE || comes_alone(push)) {
            continue;
        }
        if (create == NULL || create->create.count == CREATE_MAX) {
            create = op_command(op, COMMAND_CREATE);
            create->create.orders = orders;
        }
        orders++;
        create->create.count++;
        push->create = create;
    }
    if (op->pending == 0) {
        go_on(op);
    }
}

static bool read_push(struct faktory_op *op, struct str text, struct order *order,
                      struct push *push)
{
    push->order = order;
    if (!faktory_read_job(text, &op->arena, &push->job, &push->err) ||
        !job_order(&push->job, &op->faktory->blank, &op->arena, order, &push->err)) {
        return false;
    }
    queue_is_back(op->faktory, push->job.queue);
    return true;
}

void op_push(struct faktory_op *op)
{
    struct push *push = arena_new(&op->arena, struct push);
    if (!read_push(op, op->line.rest, arena_alloc(&op->arena, sizeof(struct order)), push)) {
        op_fail(op, &push->err);
        return;
    }
    if (!comes_alone(push)) {
        op->command = (struct command){.kind = COMMAND_CREATE, .create = {push->order, 1}};
        op->back = op_ok_or_fail;
        op_give(op, &op->command);
        return;
    }
    struct pushes *pushes = arena_new(&op->arena, struct pushes);
    *pushes = (struct pushes){.at = push, .count = 1};
    op->own = pushes;
    go_on(op);
}

void op_pushb(struct faktory_op *op)
{
    struct faktory_jobs jobs;
    struct err err = ERR_INIT;
    if (!faktory_read_jobs(op->line.rest, &op->arena, &jobs, &err)) {
        op_fail(op, &err);
        return;
    }
    struct pushes *pushes = arena_new(&op->arena, struct pushes);
    *pushes = (struct pushes){
        .at = arena_array(&op->arena, struct push, jobs.count), .count = jobs.count, .many = true};
    op->own = pushes;
    struct order *orders = arena_alloc(&op->arena, jobs.count * sizeof *orders);
    for (size_t i = 0, plain = 0; i < jobs.count; i++) {
        struct push *push = &pushes->at[i];
        bool ok = read_push(op, jobs.at[i], &orders[plain], push);
        if (ok && comes_alone(push)) {
            push->order = arena_new(&op->arena, struct order);
            *push->order = orders[plain];
        } else {
            plain += ok;
        }
    }
    create_together(op, pushes, orders);
}
