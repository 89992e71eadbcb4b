/* remote/keeper.c: the thread behind a client: leases, finishes, the spool. See remote.h.
 *
 * It sleeps until it is told something or until something is due. What is finished while a call is
 * under way forms the next batch; nobody waits for a batch to fill, but a finish waits a moment for
 * the claim that usually follows it: both travel in one request. While the server is away
 * nothing is sent until the pause is over, and a lease that ends meanwhile counts as lost.
 *
 * Thread: the keeper's, but for keeper_note(), keeper_start() and keeper_stop().
 *
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "remote/remote.h"
#include "remote/send.h"

/* ---- Being told ---- */

void keeper_note(errand_client *client, const struct note *note)
{
    struct note *copy = mem_new(struct note);
    *copy = *note;
    channel_give(&client->notes, &copy->link);
}

/* At most `max` bytes of whole characters; what is not UTF-8 becomes '?'. */
static void add_clean(struct buf *out, struct str text, size_t max)
{
    for (size_t at = 0, len = 0; at < text.len; at += MAX(len, 1u)) {
        len = str_utf8_len(str_from(text, at));
        if (at + MAX(len, 1u) > max) {
            return;
        }
        buf_add(out, len == 0 ? "?" : text.ptr + at, MAX(len, 1u));
    }
}

static void hear_log(errand_job *job, struct str text)
{
    while (!str_absent(text)) {
        struct str line = str_cut(&text, '\n');
        if (job->log.len + line.len + 1 <= job->log.max) {
            add_clean(&job->log, line, REMOTE_LOG_LINE_MAX);
            buf_char(&job->log, '\n');
        }
    }
    job->told = true;
}

static void hear(errand_client *client, struct note *note)
{
    struct keeper *keeper = &client->keeper;
    errand_job *job = note->job; /* of the first four kinds */
    switch (note->kind) {
    case NOTE_HOLD:
        list_append(&keeper->held, &job->link);
        break;
    case NOTE_PROGRESS:
        atomic_fetch_sub(&client->reports, 1);
        job->percent = note->percent;
        buf_clear(&job->message); /* the newest one counts */
        add_clean(&job->message, str_of(note->text), REMOTE_MESSAGE_MAX);
        job->told = true;
        break;
    case NOTE_LOG:
        atomic_fetch_sub(&client->reports, 1);
        hear_log(job, str_of(note->text));
        break;
    case NOTE_FINISH:
        list_remove(&job->link);
        list_append(&keeper->finishing, &job->link);
        break;
    case NOTE_FLUSH:
        list_append(&keeper->flushes, &note->flush->link);
        break;
    case NOTE_CARRY:
        if (keeper->carry == NULL) {
            keeper->carry = note->carry;
        } else { /* one at a time */
            carry_answer(note->carry, STR_NONE);
        }
        break;
    case NOTE_LOOK:
        break;
    case NOTE_END:
        keeper->ending = true;
        break;
    }
    mem_free(note->text);
    mem_free(note);
}

static void hear_all(errand_client *client)
{
    struct list notes;
    uint64_t ignored;
    ssize_t got = read(client->wake_fd, &ignored, sizeof ignored);
    (void)got; /* nothing there is fine, too */
    list_init(&notes);
    (void)channel_take(&client->notes, &notes);
    LIST_EACH(&notes, link)
    {
        hear(client, HOLDER(link, struct note, link));
    }
}

/* ---- What is due ---- */

static int64_t beat_due_ms(const errand_client *client, const errand_job *job)
{
    int64_t every_ms = MIN(client->beat_ms, job->lease_ms / 3);
    int64_t due_ms = job->renewed_ms + every_ms;
    return job->told ? MIN(due_ms, job->reported_ms + REMOTE_REPORT_MS) : due_ms;
}

static bool has_finishes(const errand_client *client)
{
    return !list_empty(&client->keeper.finishing);
}

static bool has_spooled(const errand_client *client)
{
    return client->spool != NULL && !spool_empty(client->spool);
}

static bool is_away(const errand_client *client, int64_t now_ms)
{
    return now_ms < client->keeper.away_until_ms;
}

/* When to look again; INT64_MAX: when told. */
static int64_t next_ms(const errand_client *client)
{
    const struct keeper *keeper = &client->keeper;
    int64_t next = has_finishes(client) || has_spooled(client) ? keeper->away_until_ms : INT64_MAX;
    LIST_EACH(&keeper->held, link)
    {
        const errand_job *job = HOLDER(link, errand_job, link);
        if (errand_job_stop(job) != ERRAND_LOST) {
            int64_t beat_ms = MAX(beat_due_ms(client, job), keeper->away_until_ms);
            next = MIN(next, MIN(beat_ms, job->until_ms));
        }
    }
    return next;
}

/* ---- Leases ---- */

static void check_ends(errand_client *client, int64_t now_ms)
{
    LIST_EACH(&client->keeper.held, link)
    {
        errand_job *job = HOLDER(link, errand_job, link);
        if (now_ms >= job->until_ms) {
            send_stop(job, ERRAND_LOST);
        }
    }
}

static void beat_all(errand_client *client)
{
    LIST_EACH(&client->keeper.held, link)
    {
        errand_job *job = HOLDER(link, errand_job, link);
        int64_t now_ms = mono_ms();
        bool due = errand_job_stop(job) != ERRAND_LOST && now_ms >= beat_due_ms(client, job);
        if (due && !is_away(client, now_ms)) {
            send_beat(job, now_ms);
        }
    }
}

static void answer_flushes(errand_client *client)
{
    if (has_finishes(client) || has_spooled(client)) {
        return;
    }
    LIST_EACH(&client->keeper.flushes, link)
    {
        struct flush *flush = HOLDER(link, struct flush, link);
        list_remove(link);
        sem_post(&flush->done);
        flush_let_go(flush);
    }
}

/* ---- The end ---- */

/* Nothing travelled that the claim could have gone with: its owner asks himself. */
static void release_carry(errand_client *client)
{
    if (client->keeper.carry != NULL) {
        carry_answer(client->keeper.carry, STR_NONE);
        client->keeper.carry = NULL;
    }
}

/* What is held goes back; all of it is said once, while the server answers. */
static void end(errand_client *client)
{
    struct keeper *keeper = &client->keeper;
    release_carry(client);
    LIST_EACH(&keeper->held, link)
    {
        list_remove(link);
        atomic_fetch_add(&client->ending, 1);
        job_write_release(HOLDER(link, errand_job, link), 0);
        list_append(&keeper->finishing, link);
    }
    keeper->away_until_ms = 0;
    while (has_finishes(client) && keeper->away_until_ms == 0) {
        send_finishes(client);
    }
    LIST_EACH(&keeper->finishing, link)
    {
        list_remove(link);
        job_free(HOLDER(link, errand_job, link));
    }
    LIST_EACH(&keeper->flushes, link)
    {
        list_remove(link);
        flush_let_go(HOLDER(link, struct flush, link));
    }
}

/* A worker that has just finished something usually claims next. */
static void linger(errand_client *client)
{
    const struct keeper *keeper = &client->keeper;
    if (has_finishes(client) && keeper->carry == NULL && !keeper->apart && !keeper->ending &&
        atomic_load(&client->claimed) && atomic_load(&client->claiming) == 0 &&
        !is_away(client, mono_ms())) {
        struct pollfd woken = {.fd = client->wake_fd, .events = POLLIN};
        poll(&woken, 1, REMOTE_LINGER_MS);
        hear_all(client);
    }
}

static void *keep(void *arg)
{
    errand_client *client = arg;
    while (!client->keeper.ending) {
        hear_all(client);
        linger(client);
        check_ends(client, mono_ms());
        beat_all(client);
        if (has_finishes(client) && !is_away(client, mono_ms())) {
            send_finishes(client);
        }
        release_carry(client);
        if (has_spooled(client) && !is_away(client, mono_ms())) {
            send_spooled(client);
        }
        answer_flushes(client);
        if (!client->keeper.ending) {
            struct pollfd woken = {.fd = client->wake_fd, .events = POLLIN};
            int64_t next = next_ms(client);
            int64_t left = next == INT64_MAX ? -1 : MAX(next - mono_ms(), 0);
            poll(&woken, 1, (int)MIN(left, (int64_t)MINUTE_MS));
        }
    }
    end(client);
    return NULL;
}

bool keeper_start(errand_client *client, struct err *err)
{
    struct keeper *keeper = &client->keeper;
    sigset_t all, before;
    list_init(&keeper->held);
    list_init(&keeper->finishing);
    list_init(&keeper->flushes);
    rand_init(&keeper->rand);
    keeper->backoff = (struct backoff){client->backoff_min_ms, client->backoff_max_ms, 0};
    /* The program's signals are for the program's threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&client->thread, NULL, keep, client);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed == 0 || err_set(err, ERR_UNAVAILABLE, "no thread: %s", strerror(failed));
}

void keeper_stop(errand_client *client)
{
    keeper_note(client, &(struct note){.kind = NOTE_END});
    pthread_join(client->thread, NULL);
}
