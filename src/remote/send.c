/* remote/send.c: what the keeper says to the server. See send.h.
 *
 * SPDX-License-Identifier: MIT */
#include "remote/send.h"

#include <stdio.h>

#include "wire/json.h"

/* Asks, and keeps account of whether the server is there. */
static enum told ask_now(errand_client *client, const char *path, struct str body,
                         struct arena *arena, struct reply *reply)
{
    struct keeper *keeper = &client->keeper;
    const struct question question = {.path = path, .body = body, .limit_ms = REMOTE_CALL_MS};
    enum told told = ask(client, &question, arena, reply);
    if (told == TOLD_AWAY) {
        keeper->away_until_ms =
            mono_ms() + backoff_next(&keeper->backoff, &keeper->rand, reply->retry_after_ms);
    } else {
        keeper->away_until_ms = 0;
    }
    if (told == TOLD_YES) {
        backoff_reset(&keeper->backoff);
    }
    return told;
}

/* ---- Heartbeats ---- */

void send_stop(errand_job *job, enum errand_stop why)
{
    const errand_client *client = job->client;
    if ((int)why > atomic_load(&job->stop)) {
        atomic_store(&job->stop, (int)why);
        if (client->on_stop != NULL) {
            client->on_stop(job, why, client->arg);
        }
    }
}

static void renewed(errand_job *job, int64_t now_ms, struct str answer, struct arena *arena)
{
    int64_t until_ms = now_ms + job->lease_ms;
    job->until_ms = job->ends_ms > 0 ? MIN(until_ms, job->ends_ms) : until_ms;
    if (str_is(json_find(answer, "cancelRequested", arena), "true")) {
        send_stop(job, ERRAND_CANCELLED);
    }
    (void)ask_signal(job->client, answer, arena);
}

void send_beat(errand_job *job, int64_t now_ms)
{
    SCOPED(buf_fini) struct buf body = BUF_INIT(MIB);
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct reply reply;
    job_write_beat(job, &body);
    struct str path = arena_printf(&arena, "/api/tasks/" STR_FMT "/heartbeat", STR_ARG(job->id));
    enum told told = ask_now(job->client, path.ptr, buf_view(&body), &arena, &reply);
    if (told == TOLD_AWAY) {
        return;
    }
    /* A report that is refused is not said again; the lease still wants to be renewed. */
    job->renewed_ms = told == TOLD_YES || !job->told ? now_ms : job->renewed_ms;
    job->told = false;
    job->reported_ms = now_ms;
    job->percent = -1;
    buf_clear(&job->message);
    buf_clear(&job->log);
    if (told == TOLD_YES) {
        renewed(job, now_ms, reply.body, &arena);
    } else if (reply.error.status == 409 || reply.error.status == 404) {
        send_stop(job, ERRAND_LOST);
    }
}

/* ---- Finishes ---- */

static void finished(errand_job *job, const struct errand_error *error)
{
    const errand_client *client = job->client;
    if (client->on_finished != NULL) {
        client->on_finished(job->id.ptr, error, client->arg);
    }
    list_remove(&job->link);
    atomic_fetch_sub(&job->client->ending, 1);
    job_free(job);
}

/* The oldest ones as one array; how many. */
static size_t write_batch(const errand_client *client, size_t max, struct buf *out)
{
    struct json_writer w = JSON_WRITER(out);
    size_t count = 0;
    json_open_array(&w);
    LIST_EACH(&client->keeper.finishing, link)
    {
        if (count == max || (count > 0 && out->len > REMOTE_BATCH_BYTES)) {
            break;
        }
        json_add_raw(&w, buf_view(&HOLDER(link, errand_job, link)->end));
        count++;
    }
    json_close_array(&w);
    return count;
}

static void read_item(struct str item, struct arena *arena, struct errand_error *out)
{
    struct str error = json_find(item, "error", arena);
    struct str code = json_find_str(error, "code", arena);
    struct str message = json_find_str(error, "message", arena);
    int64_t status;
    *out = (struct errand_error){.status = 0};
    if (str_i64(json_find(item, "status", arena), &status)) {
        out->status = (int)status;
    }
    snprintf(out->code, sizeof out->code, STR_FMT, (int)code.len, code.len == 0 ? "" : code.ptr);
    snprintf(out->message, sizeof out->message, STR_FMT, (int)message.len,
             message.len == 0 ? "" : message.ptr);
}

static void pause_sending(errand_client *client)
{
    struct keeper *keeper = &client->keeper;
    keeper->away_until_ms = mono_ms() + backoff_next(&keeper->backoff, &keeper->rand, 0);
}

/* Answers come in the order of the batch. One that says "later", or is none, stays for the next. */
static void take_answers(errand_client *client, size_t count, struct str answer,
                         struct arena *arena)
{
    struct keeper *keeper = &client->keeper;
    struct link *link = list_first(&keeper->finishing);
    size_t left = count;
    struct json json;
    struct str item;
    json_start(&json, answer, arena);
    bool ok = json_enter_array(&json, NULL);
    while (ok && left-- > 0 && json_item(&json, NULL) && json_raw(&json, &item, NULL)) {
        struct link *next = list_after(&keeper->finishing, link);
        struct errand_error error;
        read_item(item, arena, &error);
        if (error.status != 503 && error.status != 429) {
            finished(HOLDER(link, errand_job, link), &error);
            count--;
        }
        link = next;
    }
    if (count > 0) {
        pause_sending(client);
    }
}

static enum told send_batch(errand_client *client, size_t max)
{
    SCOPED(buf_fini) struct buf body = BUF_INIT(SIZE_MAX / 2);
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct reply reply;
    size_t count = write_batch(client, max, &body);
    enum told told = ask_now(client, "/api/finish", buf_view(&body), &arena, &reply);
    if (told == TOLD_YES) {
        take_answers(client, count, reply.body, &arena);
    } else if (told == TOLD_NO && count == 1) {
        finished(HOLDER(list_first(&client->keeper.finishing), errand_job, link), &reply.error);
    }
    return told;
}

/* Together with a claim that is offered just now. False: there is none, or the server does not know
 * of such claims. */
static bool send_carried(errand_client *client)
{
    struct keeper *keeper = &client->keeper;
    int offered = CARRY_OFFERED;
    if (keeper->carry == NULL || keeper->apart ||
        !atomic_compare_exchange_strong(&keeper->carry->state, &offered, CARRY_TAKEN)) {
        return false;
    }
    SCOPED(buf_fini) struct buf body = BUF_INIT(SIZE_MAX / 2);
    SCOPED(buf_fini) struct buf ends = BUF_INIT(SIZE_MAX / 2);
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct reply reply;
    struct str claim = buf_view(&keeper->carry->body);
    size_t count = write_batch(client, REMOTE_BATCH, &ends);
    buf_add(&body, claim.ptr, claim.len - 1); /* without its closing brace */
    buf_c(&body, ",\"finish\":");
    buf_str(&body, buf_view(&ends));
    buf_c(&body, "}");
    enum told told = ask_now(client, "/api/claim", buf_view(&body), &arena, &reply);
    if (told == TOLD_YES) {
        take_answers(client, count, json_find(reply.body, "finished", &arena), &arena);
    }
    /* An older server names the field; a finish that it refuses is found by send_batch(). */
    keeper->apart = told == TOLD_NO && strstr(reply.error.message, "finish is not") != NULL;
    carry_answer(keeper->carry, told == TOLD_YES ? reply.body : STR_NONE);
    keeper->carry = NULL;
    return told != TOLD_NO;
}

void send_finishes(errand_client *client)
{
    if (send_carried(client)) {
        return;
    }
    /* A request that is refused as a whole has one bad apple: each for itself, then. */
    if (send_batch(client, REMOTE_BATCH) == TOLD_NO && !list_empty(&client->keeper.finishing)) {
        (void)send_batch(client, 1);
    }
}

/* ---- Spooled creates ---- */

static enum told send_orders(errand_client *client, const struct str *orders, size_t count,
                             struct arena *arena, struct reply *reply)
{
    SCOPED(buf_fini) struct buf body = BUF_INIT(SIZE_MAX / 2);
    struct json_writer w = JSON_WRITER(&body);
    json_open_array(&w);
    for (size_t i = 0; i < count; i++) {
        json_add_raw(&w, orders[i]);
    }
    json_close_array(&w);
    return ask_now(client, "/api/tasks", buf_view(&body), arena, reply);
}

static bool drop_orders(errand_client *client, const struct str *orders, size_t count)
{
    struct err err = ERR_INIT;
    if (!spool_drop(client->spool, orders, count, &err)) {
        pause_sending(client); /* its disk is away: as if the server were */
        return false;
    }
    return true;
}

/* One of several is refused: they go one by one, and what is refused then is put aside. */
static void send_single(errand_client *client, const struct str *order, struct arena *arena)
{
    struct reply reply;
    struct err err = ERR_INIT;
    enum told told = send_orders(client, order, 1, arena, &reply);
    int status = told == TOLD_NO ? reply.error.status : 0;
    /* Who may not create at all is not told so by each order: nothing is put aside for that. */
    if (status == 401 || status == 403 || status == 404 || status == 405) {
        pause_sending(client);
        return;
    }
    if (told == TOLD_NO &&
        !spool_refuse(client->spool, *order, str_of(reply.error.message), &err)) {
        pause_sending(client);
        return;
    }
    if (told != TOLD_AWAY) {
        (void)drop_orders(client, order, 1);
    }
}

void send_spooled(errand_client *client)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct str orders[REMOTE_BATCH];
    struct reply reply;
    size_t count = spool_look(client->spool, REMOTE_BATCH, REMOTE_BATCH_BYTES, &arena, orders);
    if (count == 0) {
        pause_sending(client);
        return;
    }
    enum told told = send_orders(client, orders, count, &arena, &reply);
    if (told == TOLD_YES) {
        (void)drop_orders(client, orders, count);
    }
    for (size_t i = 0; told == TOLD_NO && i < count; i++) {
        send_single(client, &orders[i], &arena);
        if (client->keeper.away_until_ms != 0) {
            return;
        }
    }
}
