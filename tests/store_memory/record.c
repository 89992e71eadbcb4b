/* tests/store_memory/record.c: the records of the memory store. See record.h.
 *
 * A list walks over what a transaction changed and what lies on the disk at once, in order of ids,
 * and judges each record by the whole filter: there is no index but the one of keys.
 *
 * Thread: engine; readers look at the disk's pile under its lock.
 *
 * SPDX-License-Identifier: MIT */
#include "store_memory/record.h"

#include <stdlib.h>

#include "base/mem.h"
#include "store_memory/disk.h"

/* ---- One record ---- */

static int id_cmp(struct task_id a, struct task_id b)
{
    return a.hi != b.hi ? (a.hi > b.hi ? 1 : -1) : (a.lo > b.lo) - (a.lo < b.lo);
}

static struct str put_text(char **at, struct str text)
{
    char *to = *at;
    if (str_absent(text)) {
        return STR_NONE;
    }
    memcpy(to, text.ptr, text.len);
    *at += text.len;
    return (struct str){to, text.len};
}

static struct kept *kept_new(const struct record *record)
{
    size_t texts = record->owner.len + record->key.len + record->body.len;
    struct kept *kept = mem_zero(sizeof *kept + texts + 1);
    char *at = (char *)(kept + 1);
    kept->record = *record;
    kept->record.version++;
    kept->record.owner = put_text(&at, record->owner);
    kept->record.key = put_text(&at, record->key);
    kept->record.body = put_text(&at, record->body);
    kept->has_key = !str_absent(record->key);
    return kept;
}

static void read_out(const struct kept *kept, struct arena *arena, struct record *out)
{
    *out = kept->record;
    out->owner = arena_str(arena, kept->record.owner);
    out->key = arena_str(arena, kept->record.key);
    out->body = arena_str(arena, kept->record.body);
}

/* ---- Piles ---- */

/* Where the first record at or above `id` lies. */
static size_t place_of(const struct kept_list *list, struct task_id id)
{
    size_t from = 0, to = list->count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (id_cmp(list->at[middle]->record.id, id) < 0) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from;
}

static bool lies_at(const struct kept_list *list, size_t at, struct task_id id)
{
    return at < list->count && id_eq(list->at[at]->record.id, id);
}

static uint64_t key_hash(enum record_kind kind, struct str key)
{
    return str_hash(key) + (uint64_t)kind;
}

static void link_key(struct pile *pile, struct kept *kept)
{
    if (kept->has_key) {
        map_add(&pile->keys, &kept->key_node, key_hash(kept->record.kind, kept->record.key));
    }
}

static void discard(struct pile *pile, struct kept *kept)
{
    if (kept->has_key) {
        map_remove(&pile->keys, &kept->key_node);
    }
    mem_free(kept);
}

/* Takes the place of one with the same id. */
static void pile_put(struct pile *pile, struct kept *kept)
{
    struct kept_list *list = &pile->kinds[kept->record.kind];
    size_t at = place_of(list, kept->record.id);
    if (lies_at(list, at, kept->record.id)) {
        discard(pile, list->at[at]);
    } else {
        if (list->count == list->room) {
            list->room = MAX(64, list->room * 2);
            list->at = mem_array(list->at, list->room, sizeof(*list->at));
        }
        memmove(list->at + at + 1, list->at + at, (list->count - at) * sizeof(*list->at));
        list->count++;
    }
    list->at[at] = kept;
    link_key(pile, kept);
}

static void pile_take(struct pile *pile, enum record_kind kind, struct task_id id)
{
    struct kept_list *list = &pile->kinds[kind];
    size_t at = place_of(list, id);
    if (lies_at(list, at, id)) {
        discard(pile, list->at[at]);
        list->count--;
        memmove(list->at + at, list->at + at + 1, (list->count - at) * sizeof(*list->at));
    }
}

void pile_fini(struct pile *pile)
{
    for (size_t kind = 0; kind < RECORD_KINDS; kind++) {
        for (size_t i = 0; i < pile->kinds[kind].count; i++) {
            mem_free(pile->kinds[kind].at[i]);
        }
        mem_free(pile->kinds[kind].at);
    }
    map_fini(&pile->keys);
    *pile = (struct pile){0};
}

static void place_one(struct pile *base, struct pile *over, struct kept *kept)
{
    if (kept->gone) {
        pile_take(base, kept->record.kind, kept->record.id);
        mem_free(kept);
        return;
    }
    if (kept->has_key) {
        map_remove(&over->keys, &kept->key_node);
    }
    pile_put(base, kept);
}

void pile_place(struct pile *base, struct pile *over)
{
    for (size_t kind = 0; kind < RECORD_KINDS; kind++) {
        struct kept_list *list = &over->kinds[kind];
        for (size_t i = 0; i < list->count; i++) {
            place_one(base, over, list->at[i]);
        }
        list->count = 0;
    }
    pile_fini(over);
}

/* ---- What a transaction or a reader sees ---- */

/* `over` may be NULL. */
struct sight {
    const struct pile *over, *base;
};

static struct sight tx_sight(const struct memory_tx *tx)
{
    return (struct sight){&tx->records, &tx->store->disk->records};
}

static struct kept *pile_find(const struct pile *pile, enum record_kind kind, struct task_id id)
{
    const struct kept_list *list = &pile->kinds[kind];
    size_t at = place_of(list, id);
    return lies_at(list, at, id) ? list->at[at] : NULL;
}

static const struct kept *find(struct sight sight, enum record_kind kind, struct task_id id)
{
    const struct kept *own = sight.over == NULL ? NULL : pile_find(sight.over, kind, id);
    if (own != NULL) {
        return own->gone ? NULL : own;
    }
    return pile_find(sight.base, kind, id);
}

bool pile_owned(const struct pile *over, const struct pile *base, enum record_kind kind,
                struct task_id id, struct str owner)
{
    const struct kept *kept = find((struct sight){over, base}, kind, id);
    return kept != NULL && !str_absent(kept->record.owner) && str_eq(kept->record.owner, owner);
}

static const struct kept *pile_find_key(const struct pile *pile, enum record_kind kind,
                                        struct str key)
{
    struct map_node *n = map_find(&pile->keys, key_hash(kind, key));
    for (; n != NULL; n = map_again(n)) {
        const struct kept *kept = HOLDER(n, struct kept, key_node);
        if (kept->record.kind == kind && str_eq(kept->record.key, key)) {
            return kept;
        }
    }
    return NULL;
}

/* What the transaction changed has the key of the changed one, or none. */
static const struct kept *key_owner(struct sight sight, enum record_kind kind, struct str key)
{
    const struct kept *own = pile_find_key(sight.over, kind, key);
    const struct kept *base = pile_find_key(sight.base, kind, key);
    if (own != NULL || base == NULL) {
        return own;
    }
    return pile_find(sight.over, kind, base->record.id) == NULL ? base : NULL;
}

/* A walk in order of ids over both piles; what the transaction deleted is passed over. */
struct walk {
    const struct kept_list *over, *base; /* `over` may be NULL */
    size_t over_at, base_at;             /* the next; falling: one behind the next */
    bool rising;
};

static struct walk walk_from(struct sight sight, const struct record_filter *filter)
{
    const struct kept_list *over = sight.over == NULL ? NULL : &sight.over->kinds[filter->kind];
    const struct kept_list *base = &sight.base->kinds[filter->kind];
    struct walk walk = {.over = over, .base = base, .rising = filter->oldest_first};
    if (walk.rising) { /* what equals `after` is left out by the filter */
        walk.over_at = over == NULL ? 0 : place_of(over, filter->after);
        walk.base_at = place_of(base, filter->after);
        return walk;
    }
    bool all = id_none(filter->before);
    walk.over_at = over == NULL ? 0 : all ? over->count : place_of(over, filter->before);
    walk.base_at = all ? base->count : place_of(base, filter->before);
    return walk;
}

static const struct kept *peek(const struct walk *walk, const struct kept_list *list, size_t at)
{
    if (list == NULL) {
        return NULL;
    }
    if (walk->rising) {
        return at < list->count ? list->at[at] : NULL;
    }
    return at > 0 ? list->at[at - 1] : NULL;
}

static void step(const struct walk *walk, size_t *at)
{
    *at = walk->rising ? *at + 1 : *at - 1;
}

static const struct kept *walk_any(struct walk *walk)
{
    const struct kept *over = peek(walk, walk->over, walk->over_at);
    const struct kept *base = peek(walk, walk->base, walk->base_at);
    int order = over == NULL ? 1 : base == NULL ? -1 : id_cmp(over->record.id, base->record.id);
    if (over != NULL && base != NULL && !walk->rising) {
        order = -order;
    }
    if (order <= 0 && over != NULL) {
        step(walk, &walk->over_at);
    }
    if (order >= 0 && base != NULL) {
        step(walk, &walk->base_at);
    }
    return order <= 0 ? over : base;
}

static const struct kept *walk_next(struct walk *walk)
{
    const struct kept *kept = walk_any(walk);
    while (kept != NULL && kept->gone) {
        kept = walk_any(walk);
    }
    return kept;
}

/* ---- One by one ---- */

bool memory_records_load(struct tx *tx, struct record_load *loads, size_t n, struct arena *arena,
                         struct err *err)
{
    (void)err;
    for (size_t i = 0; i < n; i++) {
        const struct kept *kept = find(tx_sight(MEMORY_TX(tx)), loads[i].kind, loads[i].id);
        loads[i].found = kept != NULL;
        if (kept != NULL) {
            read_out(kept, arena, &loads[i].record);
        }
    }
    return true;
}

bool memory_records_find(struct tx *tx, enum record_kind kind, const struct str *keys, size_t n,
                         struct task_id *out, struct err *err)
{
    (void)err;
    for (size_t i = 0; i < n; i++) {
        const struct kept *kept = key_owner(tx_sight(MEMORY_TX(tx)), kind, keys[i]);
        out[i] = kept == NULL ? TASK_ID_NONE : kept->record.id;
    }
    return true;
}

static bool may_save(struct sight sight, const struct record *record)
{
    const struct kept *old = find(sight, record->kind, record->id);
    const struct kept *holder =
        str_absent(record->key) ? NULL : key_owner(sight, record->kind, record->key);
    return record->version == (old == NULL ? 0 : old->record.version) &&
           (holder == NULL || holder == old);
}

bool memory_records_save(struct tx *base, struct record_save *saves, size_t n, struct err *err)
{
    struct memory_tx *tx = MEMORY_TX(base);
    (void)err;
    for (size_t i = 0; i < n; i++) {
        saves[i].applied = may_save(tx_sight(tx), saves[i].record);
        if (saves[i].applied) {
            pile_put(&tx->records, kept_new(saves[i].record));
        }
    }
    return true;
}

bool memory_records_delete(struct tx *base, enum record_kind kind, const struct task_id *ids,
                           size_t n, struct err *err)
{
    struct memory_tx *tx = MEMORY_TX(base);
    (void)err;
    for (size_t i = 0; i < n; i++) {
        if (find(tx_sight(tx), kind, ids[i]) != NULL) {
            struct kept *gone = kept_new(&(struct record){.kind = kind, .id = ids[i]});
            gone->gone = true;
            pile_put(&tx->records, gone);
        }
    }
    return true;
}

/* ---- Lists ---- */

static bool wants(const struct record_filter *f, const struct record *record)
{
    bool ranged = f->at_from_ms != 0 || f->at_before_ms != 0;
    return (id_none(f->parent) || id_eq(f->parent, record->parent)) &&
           (str_absent(f->owner) ||
            (!str_absent(record->owner) && str_eq(f->owner, record->owner))) &&
           (f->marks == 0 ||
            (record->mark >= 0 && record->mark < 32 && (f->marks >> record->mark & 1) != 0)) &&
           (!ranged || record->at_ms >= MAX(f->at_from_ms, 1)) &&
           (f->at_before_ms == 0 || record->at_ms < f->at_before_ms) &&
           (id_none(f->after) || id_cmp(record->id, f->after) > 0) &&
           (id_none(f->before) || id_cmp(record->id, f->before) < 0);
}

static const struct kept *next_wanted(struct walk *walk, const struct record_filter *filter)
{
    const struct kept *kept = walk_next(walk);
    while (kept != NULL && !wants(filter, &kept->record)) {
        kept = walk_next(walk);
    }
    return kept;
}

static void list(struct sight sight, const struct record_filter *filter, struct arena *arena,
                 struct records *out)
{
    struct walk walk = walk_from(sight, filter), again = walk;
    size_t limit = filter->limit == 0 ? SIZE_MAX : filter->limit;
    *out = (struct records){0};
    while (out->count < limit && next_wanted(&walk, filter) != NULL) {
        out->count++;
    }
    out->more = out->count == limit && next_wanted(&walk, filter) != NULL;
    out->at = arena_array(arena, struct record, out->count + 1);
    for (size_t i = 0; i < out->count; i++) {
        read_out(next_wanted(&again, filter), arena, &out->at[i]);
    }
}

bool memory_records_list(struct tx *tx, const struct record_filter *filter, struct arena *arena,
                         struct records *out, struct err *err)
{
    (void)err;
    list(tx_sight(MEMORY_TX(tx)), filter, arena, out);
    return true;
}

bool memory_records_clear(struct tx *tx, enum record_kind kind, struct task_id parent,
                          struct err *err)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct record_filter family = {.kind = kind, .parent = parent};
    struct records all;
    if (id_none(parent)) {
        return true;
    }
    list(tx_sight(MEMORY_TX(tx)), &family, &arena, &all);
    for (size_t i = 0; i < all.count; i++) {
        if (!memory_records_delete(tx, kind, &all.at[i].id, 1, err)) {
            return false;
        }
    }
    return true;
}

static int due_order(const void *left, const void *right)
{
    const struct record *a = &(*(const struct kept *const *)left)->record;
    const struct record *b = &(*(const struct kept *const *)right)->record;
    return a->due_ms != b->due_ms ? (a->due_ms > b->due_ms ? 1 : -1) : id_cmp(a->id, b->id);
}

/* Everything of the kind that will ever be due, the first one first. */
static const struct kept **all_due(struct sight sight, enum record_kind kind, struct arena *arena,
                                   size_t *count)
{
    struct walk walk = walk_from(sight, &(struct record_filter){.kind = kind});
    size_t most = sight.base->kinds[kind].count + sight.over->kinds[kind].count;
    const struct kept **due = arena_array(arena, const struct kept *, most + 1);
    *count = 0;
    for (const struct kept *kept; (kept = walk_next(&walk)) != NULL;) {
        if (kept->record.due_ms > 0) {
            due[(*count)++] = kept;
        }
    }
    qsort(due, *count, sizeof(*due), due_order);
    return due;
}

bool memory_records_due(struct tx *tx, enum record_kind kind, int64_t until_ms, size_t most,
                        struct arena *arena, struct records *out, int64_t *next_ms, struct err *err)
{
    SCOPED(arena_fini) struct arena scratch = ARENA_INIT;
    size_t all = 0, n = 0;
    const struct kept **due = all_due(tx_sight(MEMORY_TX(tx)), kind, &scratch, &all);
    (void)err;
    while (n < MIN(all, most) && due[n]->record.due_ms <= until_ms) {
        n++;
    }
    *next_ms = n < all ? due[n]->record.due_ms : INT64_MAX;
    *out = (struct records){
        .at = arena_array(arena, struct record, n + 1), .count = n, .more = *next_ms <= until_ms};
    for (size_t i = 0; i < n; i++) {
        read_out(due[i], arena, &out->at[i]);
    }
    return true;
}

/* ---- Readers ---- */

static struct memory_disk *reader_disk(struct reader *reader)
{
    return ((struct memory_reader *)reader)->disk;
}

bool memory_reader_records(struct reader *reader, const struct record_filter *filter,
                           struct arena *arena, struct records *out, struct err *err)
{
    struct memory_disk *disk = reader_disk(reader);
    (void)err;
    pthread_mutex_lock(&disk->lock);
    list((struct sight){.base = &disk->records}, filter, arena, out);
    pthread_mutex_unlock(&disk->lock);
    return true;
}

bool memory_reader_records_count(struct reader *reader, enum record_kind kind, uint32_t marks,
                                 int64_t *out, struct err *err)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct records all;
    const struct record_filter filter = {.kind = kind, .marks = marks};
    if (!memory_reader_records(reader, &filter, &arena, &all, err)) {
        return false;
    }
    *out = (int64_t)all.count;
    return true;
}

bool memory_reader_record(struct reader *reader, enum record_kind kind, struct task_id id,
                          struct arena *arena, bool *found, struct record *out, struct err *err)
{
    struct memory_disk *disk = reader_disk(reader);
    (void)err;
    pthread_mutex_lock(&disk->lock);
    const struct kept *kept = pile_find(&disk->records, kind, id);
    *found = kept != NULL;
    if (kept != NULL) {
        read_out(kept, arena, out);
    }
    pthread_mutex_unlock(&disk->lock);
    return true;
}

/* ---- Doctor ---- */

void pile_check(const struct pile *pile, store_finding_fn *each, void *arg)
{
    for (int kind = 0; kind < RECORD_KINDS; kind++) {
        const struct kept_list *list = &pile->kinds[kind];
        for (size_t i = 0; i < list->count; i++) {
            const struct kept *kept = list->at[i];
            if (kept->gone || kept->record.version < 1 || (int)kept->record.kind != kind ||
                (kept->has_key &&
                 pile_find_key(pile, kept->record.kind, kept->record.key) != kept)) {
                each(arg, "records", "a record is not one that was ever written");
            }
        }
    }
}
