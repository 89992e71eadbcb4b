/* remote/claim.c: errand_claim(). See errand/client.h.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
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

int errand_claim(errand_client *client, const struct errand_wish *given, errand_job **jobs,
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
