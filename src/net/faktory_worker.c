/* net/faktory_worker.c: Faktory workers that speak to this node, and what they were given.
 *
 * The engine knows workers by name and what is asked of them; here is who has connections, when he
 * last said that he lives, and the leases of the jobs he fetched.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "net/faktory_parts.h"

/* ---- Leases ---- */

static void lease_drop(struct faktory *faktory, struct faktory_lease *lease)
{
    map_remove(&faktory->leases, &lease->node);
    list_remove(&lease->of_worker);
    lease->worker->leases_count--;
    mem_free((char *)lease->jid.ptr);
    mem_free(lease);
}

static struct faktory_lease *oldest(const struct faktory_worker *worker)
{
    return HOLDER(list_first(&worker->leases), struct faktory_lease, of_worker);
}

struct faktory_lease *lease_find(const struct faktory *faktory, const struct faktory_worker *worker,
                                 struct str jid)
{
    struct faktory_lease *other = NULL;
    for (struct map_node *node = map_find(&faktory->leases, str_hash(jid)); node != NULL;
         node = map_again(node)) {
        struct faktory_lease *lease = HOLDER(node, struct faktory_lease, node);
        if (!str_eq(lease->jid, jid)) {
            continue;
        }
        if (lease->worker == worker) {
            return lease;
        }
        other = lease;
    }
    return other;
}

void lease_keep(struct faktory *faktory, struct faktory_worker *worker, struct str jid,
                const struct task *task)
{
    struct faktory_lease *before = task->attempt > 1 ? lease_find(faktory, worker, jid) : NULL;
    if (before != NULL && before->worker == worker && id_eq(before->id, task->id)) {
        lease_drop(faktory, before); /* an earlier attempt of the same task */
    }
    struct faktory_lease *lease = mem_new(struct faktory_lease);
    *lease = (struct faktory_lease){.worker = worker,
                                    .jid = {mem_text(jid.ptr, jid.len), jid.len},
                                    .id = task->id,
                                    .lease = {task->attempt, task->token}};
    map_add(&faktory->leases, &lease->node, str_hash(jid));
    list_append(&worker->leases, &lease->of_worker);
    if (++worker->leases_count > LEASES_MAX) {
        lease_drop(faktory, oldest(worker));
    }
}

void leases_end(struct faktory *faktory, struct str jid, struct task_id id, struct task_lease lease)
{
    struct map_node *next = map_find(&faktory->leases, str_hash(jid));
    while (next != NULL) {
        struct faktory_lease *one = HOLDER(next, struct faktory_lease, node);
        next = map_again(next);
        if (id_eq(one->id, id) && one->lease.attempt <= lease.attempt) {
            lease_drop(faktory, one);
        }
    }
}

/* ---- Workers ---- */

struct faktory_worker *worker_of_wid(const struct faktory *faktory, struct str wid)
{
    struct map_node *node = map_find(&faktory->workers, str_hash(wid));
    while (node != NULL && !str_eq(HOLDER(node, struct faktory_worker, node)->name, wid)) {
        node = map_again(node);
    }
    return node == NULL ? NULL : HOLDER(node, struct faktory_worker, node);
}

/* The engine hears that a worker is there, or has left: who comes by its name then is another. */
static void tell_engine(struct faktory *faktory, const struct faktory_worker *worker, bool left)
{
    if (faktory->options.api->parts.queries == NULL) { /* it has ended */
        return;
    }
    struct command *command = api_command(faktory->options.api, COMMAND_BEAT);
    command->beat =
        (struct command_beat){.worker = arena_str(command->arena, worker->name), .left = left};
}

static void forget(struct faktory *faktory, struct faktory_worker *worker)
{
    while (worker->leases_count > 0) {
        lease_drop(faktory, oldest(worker));
    }
    if (worker->named) {
        map_remove(&faktory->workers, &worker->node);
        list_remove(&worker->link);
        tell_engine(faktory, worker, true);
    }
    if (list_empty(&faktory->all_workers) && !faktory->stopped) {
        uv_timer_stop(&faktory->sweep_timer);
    }
    mem_free((char *)worker->name.ptr);
    mem_free(worker);
}

/* The connections of a worker that has been silent for too long are closed; the last one takes the
 * worker with it. */
static void on_sweep(uv_timer_t *timer)
{
    struct faktory *faktory = timer->data;
    uint64_t now_ms = uv_now(faktory->loop);
    LIST_EACH(&faktory->all_workers, it)
    {
        struct faktory_worker *worker = HOLDER(it, struct faktory_worker, link);
        if (now_ms - worker->beat_ms <= FAKTORY_BEAT_MS) {
            continue;
        }
        LIST_EACH(&worker->sessions, link)
        {
            struct faktory_session *session = HOLDER(link, struct faktory_session, of_worker);
            session->hanging_up = true;
            connection_hang_up(session->connection);
        }
    }
}

struct faktory_worker *worker_join(struct faktory *faktory, struct str wid,
                                   struct faktory_session *session)
{
    bool named = wid.len > 0;
    struct faktory_worker *worker = named ? worker_of_wid(faktory, wid) : NULL;
    if (worker == NULL) {
        char own[64];
        int len =
            snprintf(own, sizeof own, "faktory-%llu", (unsigned long long)++faktory->anonymous);
        struct str name = named ? wid : (struct str){own, (size_t)len};
        worker = mem_new(struct faktory_worker);
        worker->name = (struct str){mem_text(name.ptr, name.len), name.len};
        worker->named = named;
        worker->beat_ms = uv_now(faktory->loop);
        list_init(&worker->sessions);
        list_init(&worker->leases);
        if (named) {
            map_add(&faktory->workers, &worker->node, str_hash(wid));
            list_append(&faktory->all_workers, &worker->link);
            tell_engine(faktory, worker, false);
            uv_timer_start(&faktory->sweep_timer, on_sweep, SWEEP_MS, SWEEP_MS);
        }
    }
    list_append(&worker->sessions, &session->of_worker);
    return worker;
}

void worker_leave(struct faktory *faktory, struct faktory_session *session)
{
    struct faktory_worker *worker = session->worker;
    list_remove(&session->of_worker);
    session->worker = NULL;
    if (list_empty(&worker->sessions)) {
        forget(faktory, worker);
    }
}
