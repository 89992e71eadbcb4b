/* tests/conformance/record_bench.c: how the store suite saves and loads records. See
 * record_bench.h.
 *
 * SPDX-License-Identifier: MIT */
#include "record_bench.h"

/* Small ids read well in a list. */
struct record bench_record(uint64_t hi)
{
    return (struct record){.kind = RECORD_SCHEDULE, .id = {hi, 0}, .body = STR("{}")};
}

struct tx *bench_begin(struct bench *b)
{
    struct err err = ERR_INIT;
    struct tx *tx = NULL;
    CHECK_OK(store_begin(b->store, &tx, &err));
    return tx;
}

void bench_commit(struct tx *tx)
{
    struct err err = ERR_INIT;
    CHECK_OK(tx_commit(&tx, &err));
}

bool record_save_in(struct tx *tx, const struct record *record)
{
    struct err err = ERR_INIT;
    struct record_save save = {.record = record};
    CHECK_OK(tx_records_save(tx, &save, 1, &err));
    return save.applied;
}

bool record_saved(struct bench *b, const struct record *record)
{
    struct tx *tx = bench_begin(b);
    bool applied = record_save_in(tx, record);
    bench_commit(tx);
    return applied;
}

bool record_load_in(struct bench *b, struct tx *tx, enum record_kind kind, struct task_id id,
                    struct record *out)
{
    struct err err = ERR_INIT;
    struct record_load load = {.kind = kind, .id = id};
    CHECK_OK(tx_records_load(tx, &load, 1, &b->arena, &err));
    *out = load.record;
    return load.found;
}

bool record_loaded(struct bench *b, enum record_kind kind, struct task_id id, struct record *out)
{
    SCOPED(tx_close) struct tx *tx = bench_begin(b);
    return record_load_in(b, tx, kind, id, out);
}

/* The ids that a list gave, as "3 2 1", with a "+" behind when there are more. */
const char *records_told(struct bench *b, const struct records *records)
{
    struct str text = STR("");
    for (size_t i = 0; i < records->count; i++) {
        text = arena_printf(&b->arena, STR_FMT "%s%llu", STR_ARG(text), i == 0 ? "" : " ",
                            (unsigned long long)records->at[i].id.hi);
    }
    text = arena_printf(&b->arena, STR_FMT "%s", STR_ARG(text), records->more ? "+" : "");
    return arena_c_text(&b->arena, text);
}

/* Both absent, or the same bytes. */
static bool same_text(struct str a, struct str b)
{
    return str_absent(a) == str_absent(b) && str_eq(a, b);
}

void check_same_record(const struct record *got, const struct record *want, int64_t version)
{
    CHECK_EQ(got->kind, want->kind);
    CHECK(id_eq(got->id, want->id) && id_eq(got->parent, want->parent));
    CHECK(same_text(got->owner, want->owner) && same_text(got->key, want->key));
    CHECK(same_text(got->body, want->body));
    CHECK_EQ(got->due_ms, want->due_ms);
    CHECK_EQ(got->at_ms, want->at_ms);
    CHECK_EQ(got->mark, want->mark);
    CHECK_EQ(got->version, version);
}
