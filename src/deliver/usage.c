/* deliver/usage.c: what runs have cost, and what a user may still spend today. See usage.h.
 *
 * SPDX-License-Identifier: MIT */
#include "deliver/usage.h"

#include "deliver/save.h"
#include "wire/json.h"

#define PAGE 1000 /* records of one look at a day that has no sum yet */

static const struct form_row rows[] = {
    FORM_ROW("queries", struct usage, queries, FORM_F64, FORM_KEPT, .max = INT64_MAX),
    FORM_ROW("tokens", struct usage, tokens, FORM_F64, FORM_KEPT, .max = INT64_MAX),
    FORM_ROW("scheduleId", struct usage, schedule, FORM_ID, FORM_KEPT),
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

/* The schedule is in the body, not the record's parent: nobody looks for it by that, and each
 * schedule's place in that index would be a page of its own to write.
 *
 * Mostly it is the first word: then nothing need be looked for. */
static bool save_note(struct batch *batch, struct record *record)
{
    struct err err = ERR_INIT;
    struct record_load load = {.kind = RECORD_USAGE, .id = record->id};
    struct record_save save = {.record = record};
    struct tx *tx = guest_tx(batch);
    if (tx == NULL) {
        return false;
    }
    if (!tx_records_save(tx, &save, 1, &err)) {
        guest_store_failed(batch, &err);
        return false;
    }
    guest_wrote(batch);
    if (save.applied) {
        return true;
    }
    if (!deliver_load(batch, &load)) {
        return false;
    }
    record->version = load.found ? load.record.version : 0;
    return deliver_save(batch, record);
}

bool usage_note(struct batch *batch, const struct execution *run, const struct task *task)
{
    const struct usage usage = {execution_queries(task), MAX(task->cost.tokens, 0), run->schedule};
    int64_t now_ms = guest_now(batch).wall_ms;
    struct record record = {.kind = RECORD_USAGE,
                            .id = run->id,
                            .owner = run->user,
                            .at_ms = now_ms,
                            .due_ms = now_ms + USAGE_KEPT_MS,
                            .mark = USAGE_RUN,
                            .body = write(&usage, guest_arena(batch))};
    return save_note(batch, &record);
}

/* ---- A day's sum ---- */

static int64_t day_of(int64_t ms)
{
    return ms / DAY_MS * DAY_MS;
}

static struct str day_key(struct str user, int64_t at_ms, struct arena *arena)
{
    return arena_printf(arena, "day:%lld:" STR_FMT, (long long)(at_ms / DAY_MS), (int)user.len,
                        str_absent(user) ? "" : user.ptr);
}

static bool find_day(struct batch *batch, struct str key, struct record_load *out)
{
    struct err err = ERR_INIT;
    struct tx *tx = guest_tx(batch);
    *out = (struct record_load){.kind = RECORD_USAGE};
    if (tx == NULL || !tx_records_find(tx, RECORD_USAGE, &key, 1, &out->id, &err)) {
        guest_store_failed(batch, &err);
        return false;
    }
    return id_none(out->id) || deliver_load(batch, out);
}

/* The limit is new, or the sum was lost: it is made from the runs. */
static bool add_up(struct batch *batch, struct str user, int64_t at_ms, double *out)
{
    struct err err = ERR_INIT;
    struct tx *tx = guest_tx(batch);
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
        if (!tx_records_list(tx, &filter, arena, &page, &err)) {
            guest_store_failed(batch, &err);
            return false;
        }
        for (size_t i = 0; i < page.count; i++) {
            bool theirs = !str_absent(user) || str_absent(page.at[i].owner);
            *out += theirs ? usage_read(&page.at[i], arena).queries : 0;
            filter.after = page.at[i].id;
        }
    }
    return true;
}

static bool load_day(struct batch *batch, struct str user, int64_t at_ms, struct record_load *load,
                     double *out)
{
    struct arena *arena = guest_arena(batch);
    if (!find_day(batch, day_key(user, at_ms, arena), load)) {
        return false;
    }
    if (!load->found) {
        return add_up(batch, user, at_ms, out);
    }
    *out = usage_read(&load->record, arena).queries;
    return true;
}

bool usage_of_day(struct batch *batch, struct str user, int64_t at_ms, double *out)
{
    struct record_load load;
    return load_day(batch, user, at_ms, &load, out);
}

bool usage_add_to_day(struct batch *batch, struct str user, int64_t at_ms, double queries)
{
    struct arena *arena = guest_arena(batch);
    struct record_load load;
    struct usage usage = {0};
    if (!load_day(batch, user, at_ms, &load, &usage.queries)) {
        return false;
    }
    usage.queries = MAX(usage.queries + queries, 0);
    const struct record record = {.kind = RECORD_USAGE,
                                  .id = load.found ? load.id : guest_make_id(batch),
                                  .owner = user,
                                  .key = day_key(user, at_ms, arena),
                                  .due_ms = day_of(at_ms) + 3 * DAY_MS,
                                  .mark = USAGE_DAY,
                                  .version = load.found ? load.record.version : 0,
                                  .body = write(&usage, arena)};
    return deliver_save(batch, &record);
}
