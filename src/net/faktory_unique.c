/* net/faktory_unique.c: unique jobs: a lock that is taken in the transaction that creates the job.
 *
 * A lock is a record whose key says what is unique and whose body names the job. It is let go by
 * nobody: whoever wants it looks at what became of that job, and takes it over when it has ended
 * well, was given up, has started (where that is enough), or its time is over. Locks whose time is
 * over are removed on the way, some with each new one, so that they do not add up.
 *
 * Thread: engine, but for unique_give().
 *
 * SPDX-License-Identifier: MIT */
#include <openssl/sha.h>
#include <stdio.h>

#include "net/faktory_parts.h"
#include "net/faktory_unique.h"
#include "queue/guest.h"

#define SWEEP_LOCKS ((size_t)16) /* removed with each that is taken */
#define HASH_TEXT   (2 * SHA256_DIGEST_LENGTH + 1)

struct unique {
    struct order *order;
    char key[HASH_TEXT];
    int64_t for_ms;
    bool until_start;
};

static bool sweep(struct batch *batch, struct tx *tx)
{
    struct records old;
    struct err err = ERR_INIT;
    int64_t next_ms;
    if (!tx_records_due(tx, RECORD_UNIQUE, guest_now(batch).wall_ms, SWEEP_LOCKS,
                        guest_arena(batch), &old, &next_ms, &err)) {
        guest_store_failed(batch, &err);
        return false;
    }
    struct task_id *ids = arena_array(guest_arena(batch), struct task_id, old.count);
    for (size_t i = 0; i < old.count; i++) {
        ids[i] = old.at[i].id;
    }
    return guest_delete_records(batch, RECORD_UNIQUE, ids, old.count);
}

/* Is the lock free although it is there? The body is the id of its job, and how long it holds. */
static bool is_over(struct batch *batch, const struct record *lock)
{
    struct task_id id;
    struct str body = lock->body, text = str_cut(&body, ' ');
    bool until_start = !str_absent(body) && str_is(body, "start");
    const struct task *task = id_parse(text, &id) ? guest_task(batch, id) : NULL;
    if (task == NULL) { /* it was removed, or this very batch creates it */
        return lock->at_ms < guest_now(batch).wall_ms;
    }
    return lock->due_ms <= guest_now(batch).wall_ms || task->state == TASK_COMPLETED ||
           task->state == TASK_CANCELLED || (until_start && task->attempt > 0);
}

static bool load_lock(struct batch *batch, struct tx *tx, const struct unique *unique,
                      struct record_load *load)
{
    struct str key = str_of(unique->key);
    struct err err = ERR_INIT;
    *load = (struct record_load){.kind = RECORD_UNIQUE};
    if (!tx_records_find(tx, RECORD_UNIQUE, &key, 1, &load->id, &err)) {
        guest_store_failed(batch, &err);
        return false;
    }
    return id_none(load->id) || guest_load_record(batch, load, guest_arena(batch));
}

static void decide(struct guest *guest, struct batch *batch, struct command *command)
{
    struct unique *unique = command->guest.what;
    struct order *order = unique->order;
    struct tx *tx = guest_tx(batch);
    struct record_load load;
    (void)guest;
    if (tx == NULL || !sweep(batch, tx) || !load_lock(batch, tx, unique, &load)) {
        return;
    }
    if (load.found && !is_over(batch, &load.record)) {
        err_set(&command->err, ERR_CONFLICT, "Job not unique");
        return;
    }
    if (!guest_create(batch, order, 1, &command->err) || order->known) {
        return;
    }
    char id[TASK_ID_TEXT];
    int64_t from_ms = MAX(guest_now(batch).wall_ms, order->task.scheduled_ms);
    struct record lock = {.kind = RECORD_UNIQUE,
                          .id = load.found ? load.id : guest_make_id(batch),
                          .key = str_of(unique->key),
                          .due_ms = from_ms + unique->for_ms,
                          .at_ms = guest_now(batch).wall_ms,
                          .version = load.found ? load.record.version : 0,
                          .body = arena_printf(guest_arena(batch), STR_FMT "%s",
                                               STR_ARG(id_text(order->task.id, id)),
                                               unique->until_start ? " start" : "")};
    (void)!guest_save_record(batch, &lock); /* false: all is decided anew */
}

/* Texts of any length and content have one key: that of all their lengths and bytes. */
static void make_key(const struct faktory_job *job, char out[static HASH_TEXT])
{
    unsigned char hash[SHA256_DIGEST_LENGTH];
    SCOPED(buf_fini) struct buf text = BUF_INIT(SIZE_MAX / 2);
    buf_printf(&text, "%zu %zu ", job->jobtype.len, job->queue.len);
    buf_str(&text, job->jobtype);
    buf_str(&text, job->queue);
    faktory_compact(&text, job->args);
    SHA256((const unsigned char *)buf_view(&text).ptr, text.len, hash);
    for (size_t i = 0; i < sizeof hash; i++) {
        snprintf(out + 2 * i, 3, "%02x", hash[i]);
    }
}

void unique_give(struct faktory_op *op, const struct faktory_job *job, struct order *order)
{
    struct unique *unique = arena_new(&op->arena, struct unique);
    *unique = (struct unique){.order = order,
                              .for_ms = job->known.unique_for * SECOND_MS,
                              .until_start = str_is(job->known.unique_until, "start")};
    make_key(job, unique->key);
    struct command *command = op_command(op, COMMAND_GUEST);
    command->guest = (struct command_guest){.decide = decide, .what = unique};
}
