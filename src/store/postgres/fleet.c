/* store/postgres/fleet.c: what the engine asks the rows for when other nodes work on them too.
 *
 * Limits hold for the whole fleet: a queue's row is locked by whoever claims from it, and then what
 * runs is counted, so that no counter can drift. The bucket of a rate limit is in the row; the
 * commit takes from it what was started (pay_rates).
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "store/postgres/fleet.h"

#include "store/postgres/postgres.h"
#include "store/rate.h"

#define EXPECTED_MAX (TX_PENDING_MAX / 2) /* the rest is for what the batch writes */

/* ---- Limits ---- */

/* What is in the bucket is what may start: it is full at first, and no clock of another node
 * empties it. */
static void limit_rate(double kept, int64_t at_ms, int64_t now_ms, struct store_room *room)
{
    double burst = rate_burst(&room->settings), passed = (double)MAX(now_ms - at_ms, 0) / 1000;
    double grown = kept + passed * room->settings.rate_per_second;
    double tokens = at_ms == 0 ? burst : fmin(burst, grown);
    double whole = fmax(0, rate_whole(tokens));
    if (whole < 1) {
        room->opens_at_ms = now_ms + rate_wait_ms(tokens, room->settings.rate_per_second);
    }
    room->room = MIN(room->room, (size_t)whole);
}

static int64_t running_in(const PGresult *running, struct str queue)
{
    for (size_t i = 0; i < get_count(running); i++) {
        if (str_eq(get_str(running, i, 0), queue)) {
            return get_int(running, i, 1);
        }
    }
    return 0;
}

static void read_room(const PGresult *rows, size_t i, const PGresult *running, int64_t now_ms,
                      struct arena *arena, struct store_room *room)
{
    struct store_queue *settings = &room->settings;
    settings->name = arena_str(arena, get_str(rows, i, 0));
    settings->paused = get_bool(rows, i, 1);
    settings->max_concurrent = get_int(rows, i, 2);
    settings->rate_per_second = get_real(rows, i, 3);
    settings->burst = get_int(rows, i, 4);
    room->room = settings->paused ? 0 : SIZE_MAX;
    if (!settings->paused && settings->rate_per_second > 0) {
        limit_rate(get_real(rows, i, 5), get_int(rows, i, 6), now_ms, room);
    }
    if (!settings->paused && settings->max_concurrent > 0) {
        int64_t left = settings->max_concurrent - running_in(running, settings->name);
        room->room = MIN(room->room, (size_t)MAX(left, 0));
    }
}

bool pg_rooms(struct tx *base, const struct str *names, size_t names_count, int64_t now_ms,
              struct arena *arena, struct store_room **out, size_t *count, struct err *err)
{
    SCOPED(args_fini) struct args args;
    args_init(&args, false);
    arg_texts(&args, names_count == 0 ? NULL : names, names_count);
    struct pg_call calls[] = {{.sql = PG_LOCK_ROOMS, .args = &args},
                              {.sql = PG_COUNT_RUNNING, .args = &args}};
    if (!pg_tx_run(PG_TX(base), calls, ARRAY_LEN(calls), TX_READS, err)) {
        return err_wrap(err, "look for room");
    }
    bool rates = false;
    *count = get_count(calls[0].result);
    *out = arena_array(arena, struct store_room, *count);
    for (size_t i = 0; i < *count; i++) {
        read_room(calls[0].result, i, calls[1].result, now_ms, arena, &(*out)[i]);
        rates |= (*out)[i].settings.rate_per_second > 0;
    }
    PG_TX(base)->no_rates = names_count == 0 && !rates;
    pg_calls_fini(calls, ARRAY_LEN(calls));
    return true;
}

/* A transaction that makes a trip before its commit can ask with it, and one that expects much has
 * to make one: whoever asks is told if it was wrong. */
bool pg_expect_open(struct tx *base, const struct str *names, size_t count)
{
    struct pg_tx *tx = PG_TX(base);
    struct args args;
    struct err err = ERR_INIT;
    if (tx->begun || tx->store->careful || tx->pending_count >= EXPECTED_MAX) {
        return false;
    }
    args_init(&args, false);
    arg_texts(&args, names, count);
    tx->no_rates = true; /* what starts is in these, or in queues that pg_rooms() is asked for */
    return pg_tx_defer(tx, PG_EXPECT_OPEN, &args, 0, &err);
}

/* ---- Documents ---- */

static void read_document(const PGresult *rows, size_t i, struct arena *arena,
                          struct store_document *out)
{
    *out = (struct store_document){.document = arena_str(arena, get_str(rows, i, 0)),
                                   .held = true,
                                   .holder = get_id(rows, i, 1),
                                   .since_ms = get_int(rows, i, 2),
                                   .worker = arena_str(arena, get_str(rows, i, 3))};
}

bool pg_document(struct tx *base, struct str document, size_t most, struct arena *arena,
                 struct store_document *out, struct err *err)
{
    SCOPED(args_fini) struct args name;
    SCOPED(args_fini) struct args line;
    args_init(&name, false);
    args_init(&line, false);
    arg_bytes(&name, document);
    arg_bytes(&line, document);
    arg_int(&line, (int64_t)MIN(most, (size_t)INT32_MAX));
    struct pg_call calls[] = {{.sql = PG_FIND_DOCUMENT, .args = &name},
                              {.sql = PG_LIST_WAITING, .args = &line}};
    if (!pg_tx_run(PG_TX(base), calls, ARRAY_LEN(calls), TX_READS, err)) {
        return err_wrap(err, "look at a document");
    }
    *out = (struct store_document){.document = arena_str(arena, document)};
    if (get_count(calls[0].result) > 0) {
        read_document(calls[0].result, 0, arena, out);
    }
    get_ids(calls[1].result, arena, &out->waiting, &out->waiting_count);
    pg_calls_fini(calls, ARRAY_LEN(calls));
    return true;
}

bool pg_documents(struct tx *base, size_t most, struct arena *arena, struct store_document **out,
                  size_t *count, struct err *err)
{
    SCOPED(args_fini) struct args args;
    args_init(&args, false);
    arg_int(&args, (int64_t)MIN(most, (size_t)INT32_MAX));
    arg_int(&args, DOCUMENT_FIRST);
    struct pg_call call = {.sql = PG_LIST_DOCUMENTS, .args = &args};
    if (!pg_tx_run(PG_TX(base), &call, 1, TX_READS, err)) {
        return err_wrap(err, "list documents");
    }
    *count = 0;
    *out = arena_array(arena, struct store_document, get_count(call.result));
    for (size_t i = 0; i < get_count(call.result); i++) {
        struct store_document *last = *count == 0 ? NULL : &(*out)[*count - 1];
        if (last == NULL || !str_eq(last->document, get_str(call.result, i, 0))) {
            last = &(*out)[(*count)++];
            read_document(call.result, i, arena, last);
            last->line = get_int(call.result, i, 4);
            last->waiting = arena_array(arena, struct task_id, DOCUMENT_FIRST);
        }
        if (last->line > 0) {
            last->waiting[last->waiting_count++] = get_id(call.result, i, 5);
        }
    }
    pg_calls_fini(&call, 1);
    return true;
}

/* ---- The rest ---- */

/* On a connection of its own, so that no row of the engine's waits for it: it is only a figure. */
bool pg_oldest(struct tx *base, struct str queue, int64_t *out, struct err *err)
{
    struct pg_store *store = PG_TX(base)->store;
    struct pg *pg = pg_spare_take(store);
    SCOPED(args_fini) struct args args;
    args_init(&args, false);
    struct pg_call calls[] = {{.sql = PG_WALK_ALONG}, {.sql = PG_FIND_OLDEST}};
    if (!str_absent(queue)) {
        arg_text(&args, queue);
        calls[1] = (struct pg_call){.sql = PG_FIND_OLDEST_IN, .args = &args};
    }
    bool read = pg_read_run(pg, calls, ARRAY_LEN(calls), err);
    pg_spare_put(store, pg);
    if (!read) {
        return err_wrap(err, "look for the oldest task");
    }
    *out = get_null(calls[1].result, 0, 0) ? INT64_MAX : get_int(calls[1].result, 0, 0);
    pg_calls_fini(calls, ARRAY_LEN(calls));
    return true;
}

bool pg_leads(struct tx *base, struct str id, uint64_t epoch, bool *out, struct err *err)
{
    SCOPED(args_fini) struct args args;
    args_init(&args, false);
    arg_int(&args, (int64_t)epoch);
    arg_bytes(&args, id);
    struct pg_call call = {.sql = PG_FENCE_LEADER, .args = &args};
    if (!pg_tx_run(PG_TX(base), &call, 1, TX_READS, err)) {
        return err_wrap(err, "look for the leader");
    }
    *out = get_count(call.result) > 0 && get_bool(call.result, 0, 0);
    pg_calls_fini(&call, 1);
    return true;
}
