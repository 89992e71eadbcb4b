/* store/sqlite/list.c: which tasks a list or a bulk command selects, newest first.
 *
 * Candidates come from one or more sources (a table, the index of rare ends, the late index), each
 * in falling order of its key; they are merged, each is read by its key and judged by the same
 * function as in every store (filter_wants). So no SQL varies, and a source may offer too much but
 * never too little.
 *
 * Thread: the connection's.
 *
 * SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "store/shared.h"
#include "store/sqlite/facet.h"
#include "store/sqlite/names.h"
#include "store/sqlite/record.h"
#include "store/sqlite/sqlite.h"

#define SOURCES_MAX 4

struct source {
    enum sql_id id;
    bool row; /* it has one */
    int64_t k;
};

struct candidates {
    struct db *db;
    const struct task_filter *filter;
    int64_t type_id, queue_id; /* 0: any */
    struct source at[SOURCES_MAX];
    size_t count;
};

static void candidates_fini(struct candidates *c)
{
    for (size_t i = 0; i < c->count; i++) {
        db_done(c->db, c->at[i].id);
        sqlite3_clear_bindings(db_use(c->db, c->at[i].id));
    }
}

/* A source has the parameters that it can use; the others are passed over. Unbound means any. */
static void bind_named(sqlite3_stmt *s, const char *name, int64_t value)
{
    int at = sqlite3_bind_parameter_index(s, name);
    if (at > 0) {
        bind_int(s, at, value);
    }
}

static void bind_any(sqlite3_stmt *s, const char *name, int64_t value)
{
    if (value != 0) {
        bind_named(s, name, value);
    }
}

static void bind_named_bytes(sqlite3_stmt *s, const char *name, struct str bytes)
{
    int at = sqlite3_bind_parameter_index(s, name);
    if (at > 0) {
        bind_bytes(s, at, bytes);
    }
}

/* As it lies in a packed column. */
static void bind_named_id(sqlite3_stmt *s, const char *name, struct task_id id)
{
    int at = sqlite3_bind_parameter_index(s, name);
    uint64_t bytes[2] = {__builtin_bswap64(id.hi), __builtin_bswap64(id.lo)};
    if (at > 0 && !id_none(id)) {
        sqlite3_bind_blob(s, at, bytes, sizeof bytes, SQLITE_TRANSIENT);
    }
}

static void bind_filter(const struct candidates *c, sqlite3_stmt *s)
{
    const struct task_filter *f = c->filter;
    bind_named(s, ":states", f->states == 0 ? STATES_ALL : f->states);
    bind_named(s, ":priority", f->priority);
    bind_any(s, ":type_id", c->type_id);
    bind_any(s, ":queue_id", c->queue_id);
    bind_named(s, ":created_after_ms", f->created_after_ms == 0 ? INT64_MIN : f->created_after_ms);
    bind_named(s, ":created_before_ms",
               f->created_before_ms == 0 ? INT64_MAX : f->created_before_ms);
    bind_any(s, ":parent_k", (int64_t)f->parent.hi);
    bind_named_id(s, ":parent", f->parent);
    bind_named_id(s, ":team", f->team);
    bind_named_id(s, ":schedule", f->schedule);
    bind_named_bytes(s, ":document", f->document);
    bind_named_bytes(s, ":external_id", f->external_id);
    bind_named_bytes(s, ":tag", f->tag);
}

static bool advance(struct candidates *c, struct source *source, struct err *err)
{
    if (!db_row(c->db, source->id, &source->row, err)) {
        return false;
    }
    source->k = source->row ? column_int(db_use(c->db, source->id), 0) : 0;
    return true;
}

/* Adds a source for keys of at least `from` and below `to`, within what the filter allows. */
static bool add_source(struct candidates *c, enum sql_id id, int64_t from, int64_t to, uint64_t h,
                       struct err *err)
{
    sqlite3_stmt *s = db_use(c->db, id);
    int64_t before = id_none(c->filter->before) ? INT64_MAX : (int64_t)c->filter->before.hi;
    struct source *source = &c->at[c->count++];
    *source = (struct source){.id = id};
    bind_filter(c, s);
    bind_named(s, ":before", MIN(before, to));
    bind_named(s, ":not_before", MAX((int64_t)c->filter->not_before, from));
    bind_named(s, ":h", (int64_t)h);
    return advance(c, source, err);
}

/* The index as far as it reaches, and the tasks it does not reach yet. */
static bool open_facet(struct candidates *c, const struct facet_choice *facet, struct err *err)
{
    int64_t indexed_k = 0;
    if (!facet->late) {
        return add_source(c, SQL_CANDIDATES_FACET, 0, INT64_MAX, facet->h, err);
    }
    return facet_indexed(c->db, &indexed_k, err) &&
           add_source(c, SQL_CANDIDATES_BODY, indexed_k + 1, INT64_MAX, 0, err) &&
           add_source(c, SQL_CANDIDATES_FACET, 0, indexed_k + 1, facet->h, err);
}

static bool open_states(struct candidates *c, struct err *err)
{
    static const struct {
        enum task_state state;
        enum sql_id id;
    } rare[] = {{TASK_FAILED, SQL_CANDIDATES_FAILED},
                {TASK_CANCELLED, SQL_CANDIDATES_CANCELLED},
                {TASK_TIMEOUT, SQL_CANDIDATES_TIMEOUT}};
    unsigned states = c->filter->states & STATES_ALL;
    bool live = (states & STATES_LIVE) != 0, completed = (states >> TASK_COMPLETED & 1) != 0;
    if (states == 0 || (live && completed)) {
        return add_source(c, SQL_CANDIDATES_BODY, 0, INT64_MAX, 0, err);
    }
    if (live && !add_source(c, SQL_CANDIDATES_LIVE, 0, INT64_MAX, 0, err)) {
        return false;
    }
    if (completed) {
        return add_source(c, SQL_CANDIDATES_DONE, 0, INT64_MAX, 0, err);
    }
    for (size_t i = 0; i < ARRAY_LEN(rare); i++) {
        if ((states >> rare[i].state & 1) && !add_source(c, rare[i].id, 0, INT64_MAX, 0, err)) {
            return false;
        }
    }
    return true;
}

/* A type or queue that nobody ever used selects nothing: then no source is opened. */
static bool candidates_open(struct candidates *c, struct err *err)
{
    const struct task_filter *f = c->filter;
    if (!str_absent(f->type) && !name_find(c->db, f->type, &c->type_id, err)) {
        return false;
    }
    if (!str_absent(f->queue) && !name_find(c->db, f->queue, &c->queue_id, err)) {
        return false;
    }
    if ((!str_absent(f->type) && c->type_id == 0) || (!str_absent(f->queue) && c->queue_id == 0)) {
        return true;
    }
    if (!id_none(f->parent) && str_absent(f->external_id)) {
        return add_source(c, SQL_CANDIDATES_CHILD, 0, INT64_MAX, 0, err);
    }
    struct facet_choice facet = facet_choose(f);
    return facet.any ? open_facet(c, &facet, err) : open_states(c, err);
}

/* The newest candidate not yet seen; *k is 0 at the end. */
static bool candidates_next(struct candidates *c, int64_t *k, struct err *err)
{
    struct source *newest = NULL;
    for (size_t i = 0; i < c->count; i++) {
        if (c->at[i].row && (newest == NULL || c->at[i].k > newest->k)) {
            newest = &c->at[i];
        }
    }
    *k = newest == NULL ? 0 : newest->k;
    return newest == NULL || advance(c, newest, err);
}

/* Whether the task is within the filter's reach. */
static bool reaches(struct db *db, const struct task_filter *filter, const struct task *task,
                    bool *out, struct err *err)
{
    *out = true;
    return str_absent(filter->reach) || id_none(task->schedule) ||
           record_owned(db, RECORD_SCHEDULE, task->schedule, filter->reach, out, err);
}

typedef void pick_fn(void *arg, const struct task_row *row);

/* Calls `pick` for each selected task up to the filter's limit; *more: there are others. */
static bool select_each(struct db *db, const struct task_filter *filter, int64_t omit_over,
                        pick_fn *pick, void *arg, bool *more, struct err *err)
{
    SCOPED(candidates_fini) struct candidates c = {.db = db, .filter = filter};
    size_t left = filter->limit == 0 ? SIZE_MAX : filter->limit;
    int64_t k = 1;
    *more = false;
    if (!candidates_open(&c, err)) {
        return false;
    }
    while (!*more && candidates_next(&c, &k, err) && k != 0) {
        struct loaded loaded;
        if (!load_row(db, k, omit_over, &loaded, err)) {
            return false;
        }
        bool wanted = loaded.found && filter_wants(filter, &loaded.row.task);
        if (wanted && !reaches(db, filter, &loaded.row.task, &wanted, err)) {
            return false;
        }
        if (wanted && left > 0) {
            pick(arg, &loaded.row);
            left--;
        } else {
            *more = wanted;
        }
        db_done(db, loaded.used);
    }
    return *more || k == 0;
}

struct picked_ids {
    struct arena *arena;
    struct task_id *at;
    size_t count;
};

static void pick_id(void *arg, const struct task_row *row)
{
    struct picked_ids *ids = arg;
    *ARENA_PUSH(ids->arena, ids->at, ids->count) = row->task.id;
}

bool select_ids(struct db *db, const struct task_filter *filter, struct arena *arena,
                struct task_id **out, size_t *count, struct err *err)
{
    struct picked_ids ids = {.arena = arena};
    bool more = false;
    if (!select_each(db, filter, -1, pick_id, &ids, &more, err)) {
        return err_wrap(err, "select tasks");
    }
    *out = ids.at;
    *count = ids.count;
    return true;
}

bool sqlite_select(struct tx *tx, const struct task_filter *filter, struct arena *arena,
                   struct task_id **ids, size_t *count, struct err *err)
{
    return select_ids(&SQLITE_TX(tx)->store->db, filter, arena, ids, count, err);
}

struct picked_rows {
    struct arena *arena;
    struct task_rows *out;
    size_t omit_over;
};

static void pick_row(void *arg, const struct task_row *row)
{
    struct picked_rows *rows = arg;
    struct task_row *kept = ARENA_PUSH(rows->arena, rows->out->at, rows->out->count);
    struct task_row shown = *row;
    row_omit(&shown, rows->omit_over);
    *kept = shown;
    task_keep(&kept->task, &shown.task, rows->arena);
}

bool sqlite_list(struct reader *base, const struct task_filter *filter, struct arena *arena,
                 struct task_rows *out, struct err *err)
{
    struct db *db = &((struct sqlite_reader *)base)->db;
    struct picked_rows rows = {.arena = arena, .out = out, .omit_over = filter->omit_over};
    int64_t omit_over = filter->omit_over == 0 ? INT64_MAX : (int64_t)filter->omit_over;
    *out = (struct task_rows){0};
    if (!db_run(db, SQL_BEGIN_READ, err)) {
        return err_wrap(err, "list tasks");
    }
    bool ok = select_each(db, filter, omit_over, pick_row, &rows, &out->more, err);
    ok = db_run(db, SQL_COMMIT, ok ? err : NULL) && ok;
    return ok || err_wrap(err, "list tasks");
}
