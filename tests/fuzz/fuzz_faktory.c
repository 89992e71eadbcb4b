/* tests/fuzz/fuzz_faktory.c: whatever a client of Faktory sends is read or refused, and what was
 * read as a job can be told and read again.
 *
 * The first byte chooses how a pattern is cut off; the rest is lines.
 *
 * SPDX-License-Identifier: MIT */
#include "base/arena.h"
#include "base/buf.h"
#include "fuzz.h"
#include "wire/faktory.h"

#define TOLD_MAX (64 * MIB)

static void tell_again(const struct faktory_job *job, struct arena *arena)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(TOLD_MAX);
    struct faktory_job again;
    struct err err = ERR_INIT;
    struct faktory_failure failure = {.message = STR("m"), .errtype = job->jobtype};
    const struct faktory_told told = {.jid = job->jid,
                                      .queue = job->queue,
                                      .jobtype = job->jobtype,
                                      .args = job->args,
                                      .created_at = job->created_at,
                                      .at = job->at,
                                      .custom = job->custom,
                                      .retry = job->retry,
                                      .reserve_for = job->reserve_for,
                                      .failure = &failure};
    faktory_write_job(&text, &told);
    FUZZ_CLAIM(memchr(text.ptr, '\n', text.len) == NULL);
    FUZZ_CLAIM(faktory_read_job(buf_view(&text), arena, &again, &err));
    FUZZ_CLAIM(str_eq(again.jid, job->jid) && str_eq(again.jobtype, job->jobtype));
    FUZZ_CLAIM(again.retry == job->retry && again.at_ms == job->at_ms);
}

static void read_line(struct faktory_line line, struct arena *arena)
{
    struct err err = ERR_INIT;
    struct faktory_job job;
    struct faktory_jobs jobs;
    struct faktory_hello hello;
    struct faktory_fail fail;
    struct faktory_beat beat;
    struct faktory_track track;
    struct faktory_change change;
    struct str words[FAKTORY_QUEUES_MAX], jid;
    if (faktory_read_job(line.rest, arena, &job, &err)) {
        tell_again(&job, arena);
    }
    if (faktory_read_jobs(line.rest, arena, &jobs, &err)) {
        for (size_t i = 0; i < jobs.count; i++) {
            (void)!faktory_read_job(jobs.at[i], arena, &job, &err);
        }
    }
    if (faktory_read_fail(line.rest, 100, arena, &fail, &err)) {
        FUZZ_CLAIM(fail.message.len > 0 && fail.message.len <= FAKTORY_MESSAGE_MAX);
        FUZZ_CLAIM(fail.errtype.len > 0 && fail.errtype.len <= FAKTORY_ERRTYPE_MAX);
    }
    (void)!faktory_read_hello(line.rest, arena, &hello, &err);
    (void)!faktory_read_ack(line.rest, arena, &jid, &err);
    (void)!faktory_read_beat(line.rest, arena, &beat, &err);
    (void)!faktory_read_track(line.rest, arena, &track, &err);
    (void)!faktory_read_mutate(line.rest, arena, &change, &err);
    FUZZ_CLAIM(faktory_words(line.rest, words, FAKTORY_QUEUES_MAX) <= FAKTORY_QUEUES_MAX);
}

void fuzz_one(struct str text)
{
    struct str line;
    size_t used;
    if (text.len == 0) {
        return;
    }
    size_t cut = MIN((unsigned char)text.ptr[0], text.len - 1);
    text = str_from(text, 1);
    (void)faktory_glob((struct str){text.ptr, cut}, str_from(text, cut));
    while (faktory_cut(text, 0, &line, &used)) {
        SCOPED(arena_fini) struct arena arena = ARENA_INIT;
        SCOPED(buf_fini) struct buf out = BUF_INIT(TOLD_MAX);
        read_line(faktory_line(line), &arena);
        faktory_error(&out, "ERR", line);
        FUZZ_CLAIM(memchr(out.ptr, '\n', out.len) == out.ptr + out.len - 1);
        text = str_from(text, used);
    }
}
