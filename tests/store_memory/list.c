/* tests/store_memory/list.c: lists and details of the memory store, newest first.
 *
 * Thread: the reader's, under the disk's lock; memory_select() the engine's.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "store/shared.h"
#include "store_memory/disk.h"

bool memory_reader_open(struct store *base, struct reader **out, struct err *err)
{
    (void)err;
    struct memory_reader *reader = mem_new(struct memory_reader);
    reader->reader.ops = base->ops;
    reader->disk = MEMORY_STORE(base)->disk;
    *out = &reader->reader;
    return true;
}

void memory_reader_close(struct reader *reader)
{
    mem_free(reader);
}

static bool wants(const struct view *view, const struct task_filter *filter,
                  const struct task *task)
{
    return filter_wants(filter, task) &&
           (str_absent(filter->reach) || id_none(task->schedule) ||
            pile_owned(view->over_records, view->base_records, RECORD_SCHEDULE, task->schedule,
                       filter->reach));
}

/* The next task that the filter wants, below *hi. */
static const struct row *next_wanted(const struct view *view, const struct task_filter *filter,
                                     uint64_t *hi)
{
    const struct row *record = view_before(view, *hi);
    while (record != NULL && !wants(view, filter, &record->task)) {
        record = view_before(view, record->task.id.hi);
    }
    *hi = record == NULL ? 0 : record->task.id.hi;
    return record;
}

static size_t count_wanted(const struct view *view, const struct task_filter *filter)
{
    uint64_t hi = id_none(filter->before) ? UINT64_MAX : filter->before.hi;
    size_t limit = filter->limit == 0 ? SIZE_MAX : filter->limit, n = 0;
    while (n < limit && next_wanted(view, filter, &hi) != NULL) {
        n++;
    }
    return n;
}

static void select_ids(const struct view *view, const struct task_filter *filter,
                       struct arena *arena, struct task_id **ids, size_t *count)
{
    uint64_t hi = id_none(filter->before) ? UINT64_MAX : filter->before.hi;
    *count = count_wanted(view, filter);
    *ids = arena_array(arena, struct task_id, *count + 1);
    for (size_t i = 0; i < *count; i++) {
        (*ids)[i] = next_wanted(view, filter, &hi)->task.id;
    }
}

bool memory_select(struct tx *base, const struct task_filter *filter, struct arena *arena,
                   struct task_id **ids, size_t *count, struct err *err)
{
    (void)err;
    struct view view = tx_view(MEMORY_TX(base));
    select_ids(&view, filter, arena, ids, count);
    return true;
}

static void list(const struct view *view, const struct task_filter *filter, struct arena *arena,
                 struct task_rows *out)
{
    uint64_t hi = id_none(filter->before) ? UINT64_MAX : filter->before.hi;
    out->count = count_wanted(view, filter);
    out->at = arena_array(arena, struct task_row, out->count + 1);
    for (size_t i = 0; i < out->count; i++) {
        struct task_row row = {.task = next_wanted(view, filter, &hi)->task};
        row_omit(&row, filter->omit_over);
        out->at[i] = row;
        task_keep(&out->at[i].task, &row.task, arena);
    }
    out->more = out->count > 0 && next_wanted(view, filter, &hi) != NULL;
}

bool memory_list(struct reader *base, const struct task_filter *filter, struct arena *arena,
                 struct task_rows *out, struct err *err)
{
    struct memory_disk *disk = ((struct memory_reader *)base)->disk;
    struct view view = disk_view(disk);
    (void)err;
    *out = (struct task_rows){0};
    pthread_mutex_lock(&disk->lock);
    list(&view, filter, arena, out);
    pthread_mutex_unlock(&disk->lock);
    return true;
}

static struct task_attempt keep_attempt(const struct task_attempt *attempt, struct arena *arena)
{
    struct task_attempt kept = *attempt;
    kept.worker = arena_str(arena, attempt->worker);
    kept.error.code = arena_str(arena, attempt->error.code);
    kept.error.message = arena_str(arena, attempt->error.message);
    kept.error.detail = arena_str(arena, attempt->error.detail);
    kept.log = arena_str(arena, attempt->log);
    return kept;
}

/* Attempts on record, and the one that the task itself tells about. The latter may have a log on
 * record already, and nothing else. */
static void read_attempts(const struct row *record, struct arena *arena, struct task_detail *out)
{
    struct task_attempt last = task_last_attempt(&record->task);
    bool told = false;
    out->attempts = arena_array(arena, struct task_attempt, record->attempts_count + 1);
    for (size_t i = 0; i < record->attempts_count; i++) {
        struct task_attempt attempt = record->attempts[i];
        if (attempt.outcome == OUTCOME_NONE) {
            last.log = attempt.number == last.number ? attempt.log : last.log;
            continue;
        }
        told |= attempt.number == last.number;
        out->attempts[out->attempts_count++] = keep_attempt(&attempt, arena);
    }
    if (task_tells_attempt(&record->task) && !told) {
        out->attempts[out->attempts_count++] = keep_attempt(&last, arena);
    }
}

static void read_dependencies(const struct view *view, struct task_id id, struct arena *arena,
                              struct task_detail *out)
{
    struct task_id *ids = NULL;
    view_dependencies(view, id, arena, &ids, &out->dependencies_count);
    out->dependencies = arena_array(arena, struct task_dependency, out->dependencies_count + 1);
    for (size_t i = 0; i < out->dependencies_count; i++) {
        const struct task *on = &view_find(view, ids[i].hi)->task;
        out->dependencies[i] =
            (struct task_dependency){on->id, on->state, arena_str(arena, on->result)};
    }
}

static void read_detail(const struct view *view, const struct row *record, struct arena *arena,
                        struct task_detail *out)
{
    struct task_id id = record->task.id;
    task_keep(&out->task, &record->task, arena);
    read_attempts(record, arena, out);
    view_related(view, RELATION_CHILD, id, arena, &out->children, &out->children_count);
    read_dependencies(view, id, arena, out);
}

bool memory_detail(struct reader *base, struct task_id id, struct arena *arena, bool *found,
                   struct task_detail *out, struct err *err)
{
    struct memory_disk *disk = ((struct memory_reader *)base)->disk;
    struct view view = disk_view(disk);
    (void)err;
    *out = (struct task_detail){0};
    pthread_mutex_lock(&disk->lock);
    const struct row *record = view_find(&view, id.hi);
    *found = record != NULL && id_eq(record->task.id, id);
    if (*found) {
        read_detail(&view, record, arena, out);
    }
    pthread_mutex_unlock(&disk->lock);
    return true;
}
