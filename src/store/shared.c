/* store/shared.c: what every kind of store does the same way. See shared.h.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#include "store/shared.h"

static bool wants_text(struct str want, struct str got)
{
    return str_absent(want) || (!str_absent(got) && str_eq(want, got));
}

static bool wants_id(struct task_id want, struct task_id got)
{
    return id_none(want) || id_eq(want, got);
}

static bool wants_tag(struct str want, const struct task *task)
{
    for (size_t i = 0; i < task->tags_count; i++) {
        if (str_eq(want, task->tags[i])) {
            return true;
        }
    }
    return str_absent(want);
}

static bool wants_creation(const struct task_filter *filter, const struct task *task)
{
    return task->id.hi >= filter->not_before &&
           (filter->created_after_ms == 0 || task->created_ms > filter->created_after_ms) &&
           (filter->created_before_ms == 0 || task->created_ms < filter->created_before_ms);
}

bool filter_wants(const struct task_filter *filter, const struct task *task)
{
    return (filter->states == 0 || (filter->states >> task->state & 1)) &&
           (filter->priority == 0 || filter->priority == task->priority) &&
           wants_text(filter->type, task->type) && wants_text(filter->queue, task->queue) &&
           wants_text(filter->document, task->document) &&
           wants_text(filter->external_id, task->external_id) &&
           wants_id(filter->parent, task->parent) && wants_id(filter->team, task->team) &&
           wants_id(filter->schedule, task->schedule) && wants_tag(filter->tag, task) &&
           wants_creation(filter, task);
}

static struct task_error keep_error(const struct task_error *error, struct arena *arena)
{
    return (struct task_error){arena_str(arena, error->code), arena_str(arena, error->message),
                               arena_str(arena, error->detail)};
}

void task_keep(struct task *out, const struct task *task, struct arena *arena)
{
    *out = *task;
    out->type = arena_str(arena, task->type);
    out->queue = arena_str(arena, task->queue);
    out->document = arena_str(arena, task->document);
    out->external_id = arena_str(arena, task->external_id);
    out->key = arena_str(arena, task->key);
    out->payload = arena_str(arena, task->payload);
    out->metadata = arena_str(arena, task->metadata);
    for (size_t i = 0; i < task->tags_count; i++) {
        out->tags[i] = arena_str(arena, task->tags[i]);
    }
    out->cancel_reason = arena_str(arena, task->cancel_reason);
    out->worker = arena_str(arena, task->worker);
    out->progress_message = arena_str(arena, task->progress_message);
    out->result = arena_str(arena, task->result);
    out->error = keep_error(&task->error, arena);
}

void row_omit(struct task_row *row, size_t omit_over)
{
    if (omit_over > 0 && row->task.payload.len > omit_over) {
        row->task.payload = STR_NONE;
        row->payload_omitted = true;
    }
    if (omit_over > 0 && row->task.result.len > omit_over) {
        row->task.result = STR_NONE;
        row->result_omitted = true;
    }
}

struct str log_window(struct str log)
{
    if (log.len <= TASK_LOG_MAX) {
        return log;
    }
    size_t from = log.len - TASK_LOG_MAX;
    const char *end = memchr(log.ptr + from - 1, '\n', log.len - from + 1);
    return end == NULL ? (struct str){log.ptr + log.len, 0}
                       : str_from(log, (size_t)(end - log.ptr) + 1);
}

struct task_attempt task_last_attempt(const struct task *task)
{
    return (struct task_attempt){.number = task->attempt,
                                 .outcome = task->outcome,
                                 .worker = task->worker,
                                 .started_ms = task->started_ms,
                                 .finished_ms = task->attempt_ended_ms,
                                 .error = task->error};
}

struct task_attempt change_attempt(const struct task_change *change)
{
    struct task_attempt attempt = task_last_attempt(change->ended ? change->now : change->was);
    attempt.number = change->was->attempt;
    return attempt;
}

void ids_reverse(struct task_id *ids, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        struct task_id id = ids[i];
        ids[i] = ids[n - 1 - i];
        ids[n - 1 - i] = id;
    }
}
