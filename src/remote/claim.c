/* remote/claim.c: errand_claim(). See errand/client.h.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "remote/remote.h"
#include "wire/json.h"

#define CLAIM_BODY_MAX MIB

static void put_names(struct json_writer *w, const char *key, const char *const *names,
                      size_t count)
{
    json_put_array(w, key);
    for (size_t i = 0; i < count; i++) {
        json_add_str(w, str_of(names[i]));
    }
    json_close_array(w);
}

static void write_claim(struct buf *out, const errand_client *client,
                        const struct errand_wish *wish, size_t max, int64_t wait_ms)
{
    struct json_writer w = JSON_WRITER(out);
    buf_clear(out);
    json_open_object(&w);
    json_put_str(&w, "workerId", client->worker);
    put_names(&w, "taskTypes", wish->types, wish->types_count);
    put_names(&w, "queues", wish->queues, wish->queues_count);
    json_put_i64(&w, "max", (int64_t)max);
    json_put_i64(&w, "waitMs", wait_ms);
    json_put_i64(&w, "leaseMs", wish->lease_ms);
    json_close_object(&w);
}

/* ---- With what is finished ---- */

void carry_let_go(struct carry *carry)
{
    if (atomic_fetch_sub(&carry->holders, 1) == 1) {
        sem_destroy(&carry->done);
        buf_fini(&carry->body);
        buf_fini(&carry->answer);
        mem_free(carry);
    }
}

void carry_answer(struct carry *carry, struct str answer)
{
    buf_str(&carry->answer, answer);
    sem_post(&carry->done);
    carry_let_go(carry);
}

/* A worker in its rhythm: the claim goes with the finishes that the keeper is about to send, in one
 * request that does not wait. False: there were none, or nobody answered. */
static bool claim_along(errand_client *client, const struct errand_wish *wish, size_t max,
                        struct arena *arena, struct reply *reply)
{
    if (atomic_load(&client->ending) == 0) {
        return false;
    }
    struct carry *carry = mem_new(struct carry);
    atomic_store(&carry->holders, 2);
    sem_init(&carry->done, 0, 0);
    carry->body = BUF_INIT(CLAIM_BODY_MAX);
    carry->answer = BUF_INIT(CLIENT_ANSWER_MAX);
    write_claim(&carry->body, client, wish, max, 0);
    keeper_note(client, &(struct note){.kind = NOTE_CARRY, .carry = carry});
    int offered = CARRY_OFFERED;
    bool answered = wait_for(&carry->done, REMOTE_CARRY_MS);
    if (!answered && !atomic_compare_exchange_strong(&carry->state, &offered, CARRY_WITHDRAWN)) {
        answered = wait_for(&carry->done, HOUR_MS); /* it is under way, and has its own limit */
    }
    bool along = answered && carry->answer.len > 0;
    if (along) {
        reply->body = arena_str(arena, buf_view(&carry->answer));
    }
    carry_let_go(carry);
    return along;
}

/* Each task of the answer becomes a job that the keeper knows of before the caller does. */
static int take_jobs(errand_client *client, struct str answer, int64_t lease_ms, errand_job **jobs,
                     size_t max, struct arena *arena)
{
    struct json json;
    struct str task;
    size_t count = 0;
    int64_t now_ms = mono_ms();
    json_start(&json, json_find(answer, "tasks", arena), arena);
    bool ok = json_enter_array(&json, NULL);
    while (ok && count < max && json_item(&json, NULL)) {
        errand_job *job =
            json_raw(&json, &task, NULL) ? job_read(client, task, lease_ms, now_ms) : NULL;
        if (job != NULL) {
            jobs[count++] = job;
            keeper_note(client, &(struct note){.kind = NOTE_HOLD, .job = job});
        }
    }
    return (int)count;
}

static int stopped(struct errand_error *error)
{
    if (error != NULL) {
        *error = (struct errand_error){.code = "stopped", .message = "the server asks to stop"};
    }
    return -1;
}

/* A quieted worker looks now and then whether it still is, while it would have waited anyway. */
static bool look_later(errand_client *client, int64_t until_ms)
{
    return until_ms > mono_ms() && pause_for(client, MIN(REMOTE_QUIET_MS, until_ms - mono_ms())) &&
           mono_ms() < until_ms;
}

static int give_up(errand_client *client, struct errand_error *error, const struct reply *reply)
{
    if (error != NULL) {
        *error = reply->error;
        if (is_interrupted(client)) {
            *error = (struct errand_error){.code = "interrupted", .message = "interrupted"};
        }
    }
    return -1;
}

static int claim_until(errand_client *client, const struct errand_wish *given, errand_job **jobs,
                       size_t max, struct errand_error *error)
{
    SCOPED(buf_fini) struct buf body = BUF_INIT(CLAIM_BODY_MAX);
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct errand_wish wish = ERRAND_WISH;
    struct backoff backoff = {client->backoff_min_ms, client->backoff_max_ms, 0};
    struct rand rand;
    rand_init(&rand);
    if (given != NULL) { /* of an older program it is shorter */
        memcpy(&wish, given, MIN(given->size, sizeof wish));
    }
    int64_t until_ms = mono_ms() + MAX(MIN(wish.wait_ms, REMOTE_WAIT_MAX_MS), 0);
    memset(jobs, 0, max * sizeof(errand_job *));
    struct reply along = {.body = STR_NONE};
    if (!is_interrupted(client) && claim_along(client, &wish, max, &arena, &along)) {
        int count = take_jobs(client, along.body, wish.lease_ms, jobs, max, &arena);
        (void)ask_signal(client, along.body, &arena);
        if (count > 0) {
            return count;
        }
    }
    for (;;) {
        struct reply reply = {.body = STR_NONE};
        int64_t wait_ms = MAX(until_ms - mono_ms(), 0);
        write_claim(&body, client, &wish, max, wait_ms);
        const struct question question = {.path = "/api/claim",
                                          .body = buf_view(&body),
                                          .limit_ms = wait_ms + REMOTE_CALL_MS,
                                          .may_stop = true};
        enum told told = is_interrupted(client) ? TOLD_NO : ask(client, &question, &arena, &reply);
        if (told == TOLD_YES) {
            int count = take_jobs(client, reply.body, wish.lease_ms, jobs, max, &arena);
            if (count == 0 && is_interrupted(client)) { /* it had nothing when it saw us go */
                return give_up(client, error, &reply);
            }
            enum errand_signal signal = ask_signal(client, reply.body, &arena);
            if (count == 0 && signal == ERRAND_QUIET && look_later(client, until_ms)) {
                continue;
            }
            return count == 0 && signal == ERRAND_STOP ? stopped(error) : count;
        }
        int64_t pause_ms = backoff_next(&backoff, &rand, reply.retry_after_ms);
        /* Never sooner than `wait_ms`: a worker claims again at once. */
        if (told == TOLD_NO || !pause_for(client, MIN(pause_ms, until_ms - mono_ms())) ||
            mono_ms() >= until_ms) {
            return give_up(client, error, &reply);
        }
    }
}

int errand_claim(errand_client *client, const struct errand_wish *wish, errand_job **jobs,
                 size_t max, struct errand_error *error)
{
    atomic_fetch_add(&client->claiming, 1);
    int count = claim_until(client, wish, jobs, max, error);
    atomic_store(&client->claimed, true);
    atomic_fetch_sub(&client->claiming, 1);
    return count;
}
