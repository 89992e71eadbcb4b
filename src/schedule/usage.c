/* schedule/usage.c: what runs have cost, and what a user may still spend today. See usage.h.
 *
 * SPDX-License-Identifier: MIT */
#include "schedule/usage.h"

#include "base/array.h"
#include "schedule/planner_data.h"
#include "wire/json.h"

#define PAGE 1000 /* records of one look at a day that has no sum yet */

static const struct form_row rows[] = {
    FORM_ROW("queries", struct usage, queries, FORM_F64, FORM_KEPT, .max = INT64_MAX),
    FORM_ROW("tokens", struct usage, tokens, FORM_F64, FORM_KEPT, .max = INT64_MAX),
    FORM_ROW("scheduleId", struct usage, schedule, FORM_ID, FORM_KEPT),
    FORM_ROW("counted", struct usage, counted_ms, FORM_TIME, FORM_KEPT),
};
static const struct form form = {rows, ARRAY_LEN(rows)};

static struct str write(const struct usage *usage, struct arena *arena)
{
    SCOPED(buf_fini) struct buf body = BUF_INIT(KIB);
    struct json_writer w = JSON_WRITER(&body);
    form_keep(&w, &form, usage);
    return arena_str(arena, buf_view(&body));
}

struct usage usage_read(const struct record *record, struct arena *arena)
{
    struct usage usage = {.schedule = record->parent}; /* where earlier versions kept it */
    struct err ignored = ERR_INIT;
    (void)!form_load(record->body, &form, arena, &usage, &ignored);
    return usage;
}

/* When it counts for a day's limit: when it was created, or retried by hand. */
static int64_t counted_ms(const struct execution *run, const struct task *task)
{
    return run->counted_ms != 0 ? run->counted_ms : task->created_ms;
}

/* The schedule is in the body, not the record's parent: nobody looks for it by that, and each
 * schedule's place in that index would be a page of its own to write. */
bool usage_note(struct batch *batch, const struct execution *run, const struct task *task)
{
    const struct usage usage = {.queries = execution_queries(task),
                                .tokens = MAX(task->cost.tokens, 0),
                                .schedule = run->schedule,
                                .counted_ms = counted_ms(run, task)};
    int64_t now_ms = guest_now(batch).wall_ms;
    struct record record = {.kind = RECORD_USAGE,
                            .id = run->id,
                            .owner = run->user,
                            .at_ms = now_ms,
                            .due_ms = now_ms + USAGE_KEPT_MS,
                            .mark = USAGE_RUN,
                            .body = write(&usage, guest_arena(batch))};
    struct record_load load = {.kind = RECORD_USAGE, .id = record.id};
    struct record_save save = {.record = &record};
    /* Mostly it is the first word about this run: then nothing need be looked for. */
    if (!guest_try_records(batch, &save, 1)) {
        return false;
    }
    if (save.applied) {
        return true;
    }
    if (!guest_load_record(batch, &load, guest_arena(batch))) {
        return false;
    }
    record.version = load.found ? load.record.version : 0;
    return guest_save_record(batch, &record);
}

/* ---- A day's sum ---- */

static int64_t day_of(int64_t ms)
{
    return ms / DAY_MS * DAY_MS;
}

/* A day that has no sum yet: it is new, or the limit is. The sum is made from the runs that have
 * ended in it; one that began before midnight is in the sum of the day before. */
static bool add_up(struct batch *batch, struct str user, int64_t at_ms, double *out)
{
    struct err err = ERR_INIT;
    struct arena *arena = guest_arena(batch);
    struct records page = {.more = true};
    struct record_filter filter = {.kind = RECORD_USAGE,
                                   .owner = user,
                                   .marks = 1u << USAGE_RUN,
                                   .at_from_ms = day_of(at_ms),
                                   .at_before_ms = day_of(at_ms) + DAY_MS,
                                   .oldest_first = true,
                                   .limit = PAGE};
    *out = 0;
    while (page.more) {
        if (!tx_records_list(guest_tx(batch), &filter, arena, &page, &err)) {
            guest_store_failed(batch, &err);
            return false;
        }
        for (size_t i = 0; i < page.count; i++) {
            struct usage run = usage_read(&page.at[i], arena);
            bool theirs = !str_absent(user) || str_absent(page.at[i].owner);
            bool counts = run.counted_ms == 0 || day_of(run.counted_ms) == day_of(at_ms);
            *out += theirs && counts ? run.queries : 0;
            filter.after = page.at[i].id;
        }
    }
    return true;
}

/* The record of that user's day, locked until the transaction ends; *found: there is one. */
static bool load_day(struct batch *batch, struct str key, struct record *out, bool *found)
{
    struct err err = ERR_INIT;
    struct tx *tx = guest_tx(batch);
    struct record_load load = {.kind = RECORD_USAGE};
    if (tx == NULL) {
        return false;
    }
    if (!tx_records_find(tx, RECORD_USAGE, &key, 1, &load.id, &err)) {
        guest_store_failed(batch, &err);
        return false;
    }
    if (!id_none(load.id) && !guest_load_record(batch, &load, guest_arena(batch))) {
        return false;
    }
    *out = load.record;
    *found = load.found;
    return true;
}

/* The same, begun where there is none. Only a record can be locked: of two nodes that both found no
 * sum, both would think that nothing was spent. One of them begins it; the other waits for that
 * transaction inside its own save, which is then not applied, and finds the record. */
static bool hold_day(struct batch *batch, struct str user, int64_t at_ms, struct record *out,
                     double *queries)
{
    struct arena *arena = guest_arena(batch);
    struct usage begun = {0};
    bool found;
    struct str key = arena_printf(arena, "day:%lld:" STR_FMT, (long long)(at_ms / DAY_MS),
                                  (int)user.len, str_absent(user) ? "" : user.ptr);
    if (!load_day(batch, key, out, &found)) {
        return false;
    }
    if (!found) {
        if (!add_up(batch, user, at_ms, &begun.queries)) {
            return false;
        }
        *out = (struct record){.kind = RECORD_USAGE,
                               .id = guest_make_id(batch),
                               .owner = user,
                               .key = key,
                               .due_ms = day_of(at_ms) + 3 * DAY_MS,
                               .mark = USAGE_DAY,
                               .body = write(&begun, arena)};
        struct record_save save = {.record = out};
        if (!guest_try_records(batch, &save, 1)) {
            return false;
        }
        if (save.applied) {
            out->version = 1;
        } else if (!load_day(batch, key, out, &found)) {
            return false;
        } else if (!found) {
            guest_lost(batch);
            return false;
        }
    }
    *queries = usage_read(out, arena).queries;
    return true;
}

/* ---- The daily limit ---- */

void usage_limit_fini(struct usage_limit *limit)
{
    mem_free(limit->reserved);
}

void usage_forget_reserved(struct usage_limit *limit)
{
    limit->count = 0;
}

/* Whether that user may still spend so much; the batch may be over afterwards. */
static bool has_left(const struct usage_limit *limit, struct batch *batch, struct str user,
                     int64_t at_ms, double queries)
{
    struct record day;
    double used;
    if (!hold_day(batch, user, at_ms, &day, &used)) {
        return true;
    }
    for (size_t i = 0; i < limit->count; i++) {
        used += str_eq(limit->reserved[i].user, user) ? limit->reserved[i].queries : 0;
    }
    return used + queries <= (double)limit->queries_max;
}

static struct str limit_text(const struct usage_limit *limit, struct batch *batch)
{
    return arena_printf(guest_arena(batch),
                        "the limit of %lld queries per user and day is reached; it goes on at "
                        "the next day, UTC",
                        (long long)limit->queries_max);
}

bool usage_reserve(struct usage_limit *limit, struct batch *batch, struct str user, double queries,
                   struct err *refused)
{
    int64_t now_ms = guest_now(batch).wall_ms;
    if (limit->queries_max == 0) {
        return true;
    }
    if (!has_left(limit, batch, user, now_ms, queries)) {
        err_set(refused, ERR_BUSY, STR_FMT, STR_ARG(limit_text(limit, batch)));
        if (refused != NULL) {
            refused->retry_after_ms = day_of(now_ms) + DAY_MS - now_ms;
        }
        return false;
    }
    *ARRAY_PUSH(limit->reserved, limit->count, limit->room) =
        (struct usage_reserved){user, queries};
    return true;
}

/* The day's sum has it now: it must not count twice for what else this batch brings. */
static void release_reserved(struct usage_limit *limit, struct str user, double queries)
{
    for (size_t i = 0; i < limit->count; i++) {
        struct usage_reserved *reserved = &limit->reserved[i];
        if (str_eq(reserved->user, user)) {
            reserved->queries = MAX(reserved->queries - queries, 0);
            return;
        }
    }
}

/* What a run stands for in the sum of its day. While it goes on: what its attempts have cost so far
 * and one estimate more, for the attempt that is under way or will be. */
static double counts_for(const struct task *task)
{
    return task_state_terminal(task->state)
               ? execution_queries(task)
               : MAX(task->cost.actual, 0) + MAX(task->cost.estimated, 0);
}

static bool is_revived(const struct task *was, const struct task *now)
{
    return was != NULL && task_state_terminal(was->state) && !task_state_terminal(now->state);
}

bool usage_counts(const struct usage_limit *limit, const struct task *was, const struct task *now)
{
    return limit->queries_max != 0 &&
           (counts_for(now) != (was == NULL ? 0 : counts_for(was)) || is_revived(was, now));
}

void usage_count_run(struct usage_limit *limit, struct batch *batch, const struct task *was,
                     const struct task *now, const struct execution *run)
{
    struct err refused = ERR_INIT;
    struct arena *arena = guest_arena(batch);
    struct record day;
    struct usage sum = {0};
    double differs = counts_for(now) - (was == NULL ? 0 : counts_for(was));
    int64_t day_ms = counted_ms(run, now);
    if (was == NULL || is_revived(was, now)) {
        release_reserved(limit, run->user, differs);
    } else if (now->state == TASK_RETRYING && differs > 0 &&
               !has_left(limit, batch, run->user, day_ms, differs)) {
        (void)!guest_cancel(batch, now->id, limit_text(limit, batch), &refused);
        return; /* what it has cost is counted with that end */
    }
    if (hold_day(batch, run->user, day_ms, &day, &sum.queries)) {
        sum.queries = MAX(sum.queries + differs, 0);
        day.body = write(&sum, arena);
        (void)!guest_save_record(batch, &day);
    }
}
