/* store/shared.c: what every kind of store does the same way. See shared.h.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#include "store/shared.h"

#include "store/columns.h"

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

bool filter_wants(const struct task_filter *filter, const struct task *task)
{
#define WANTED_NAME(member)                    wants_text(filter->member, task->member) &&
#define WANTED_TEXT(member)                    wants_text(filter->member, task->member) &&
#define WANTED_ID(member)                      wants_id(filter->member, task->member) &&
#define FIELD(part, kind, column, member, ...) WANTED_##kind(member)
    return
#include "store/filter.def"
        (filter->states == 0 || (filter->states >> task->state & 1)) &&
        (filter->priority == 0 || filter->priority == task->priority) &&
        wants_tag(filter->tag, task) && task->id.hi >= filter->not_before &&
        (filter->created_after_ms == 0 || task->created_ms > filter->created_after_ms) &&
        (filter->created_before_ms == 0 || task->created_ms < filter->created_before_ms);
}

/* Where a field is, if it is a text. */
#define PLACE_NAME(place)  place,
#define PLACE_TEXT(place)  place,
#define PLACE_JSON(place)  place,
#define PLACE_BYTES(place) place,
#define PLACE_ID(place)
#define PLACE_TAGS(place)
#define PLACE_TIME(place)
#define PLACE_I64(place)
#define PLACE_U64(place)
#define PLACE_I32(place)
#define PLACE_STATE(place)
#define PLACE_PRIORITY(place)
#define PLACE_OUTCOME(place)
#define PLACE_F64(place)
#define PLACE_AMOUNT(place)
#define PLACE_BOOL(place)

/* Every text of a task but its tags. */
static const size_t texts[] = {
#define FIELD(part, kind, column, member, ...) PLACE_##kind(offsetof(struct task, member))
#include "task/task.def"
};

static struct str *text_at(struct task *task, size_t i)
{
    return (struct str *)((char *)task + texts[i]);
}

void task_keep(struct task *out, const struct task *task, struct arena *arena)
{
    *out = task_copy(arena, task);
}

size_t task_texts_size(const struct task *task)
{
    size_t bytes = 0;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        bytes += text_at((struct task *)task, i)->len;
    }
    for (size_t i = 0; i < task->tags_count; i++) {
        bytes += task->tags[i].len;
    }
    return bytes;
}

/* An empty text stays one: its pointer is not looked through. */
static void pack(struct str *text, char **room)
{
    if (text->len > 0) {
        memcpy(*room, text->ptr, text->len);
        text->ptr = *room;
        *room += text->len;
    } else if (!str_absent(*text)) {
        text->ptr = "";
    }
}

void task_pack(struct task *out, const struct task *task, char *room)
{
    *out = *task;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        pack(text_at(out, i), &room);
    }
    for (size_t i = 0; i < task->tags_count; i++) {
        pack(&out->tags[i], &room);
    }
    out->depends = NULL; /* a store keeps those apart */
    out->depends_count = 0;
}

struct task task_with_standing(const struct task *order, const struct task *now)
{
    static const struct task nothing;
    bool live = !task_state_terminal(now->state);
    struct task task = *now;
#define FIELD(part, kind, column, member, ...)                                                     \
    if ((PART_##part & (PARTS_ORDER | PART_BODY)) != 0) {                                          \
        memcpy(&task.member, &order->member, sizeof task.member);                                  \
    } else if (PART_##part == PART_END && live) {                                                  \
        memcpy(&task.member, &nothing.member, sizeof task.member);                                 \
    }
#include "task/task.def"
    task.tags_count = order->tags_count;
    return task;
}

static void omit(struct str *text, size_t omit_over, bool *omitted)
{
    if (text->len > omit_over) {
        *text = STR_NONE;
        *omitted = true;
    }
}

void row_omit(struct task_row *row, size_t omit_over)
{
    struct task *task = &row->task;
    struct task_error *error = &task->error;
    if (omit_over == 0) {
        return;
    }
    omit(&task->payload, omit_over, &row->payload_omitted);
    omit(&task->result, omit_over, &row->result_omitted);
    omit(&task->metadata, omit_over, &row->metadata_omitted);
    if (error->code.len + error->message.len + error->detail.len > omit_over) {
        /* The code stays, and enough of the message to know what it is about. */
        error->message = str_head(error->message, ROW_MESSAGE_MAX);
        error->detail = STR_NONE;
        row->error_omitted = true;
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

/* ---- Tags ---- */

struct str tags_pack(const struct task *task, struct buf *scratch)
{
    if (task->tags_count == 0) {
        return STR_NONE;
    }
    buf_clear(scratch);
    for (size_t i = 0; i < task->tags_count; i++) {
        buf_char(scratch, (char)(task->tags[i].len & 0xff));
        buf_char(scratch, (char)(task->tags[i].len >> 8));
        buf_str(scratch, task->tags[i]);
    }
    return buf_view(scratch);
}

void tags_unpack(struct str packed, struct task *task)
{
    task->tags_count = 0;
    while (packed.len >= 2 && task->tags_count < TASK_TAGS_MAX) {
        const unsigned char *byte = (const unsigned char *)packed.ptr;
        size_t len = MIN((size_t)byte[0] + ((size_t)byte[1] << 8), packed.len - 2);
        task->tags[task->tags_count++] = (struct str){packed.ptr + 2, len};
        packed = str_from(packed, 2 + len);
    }
}
