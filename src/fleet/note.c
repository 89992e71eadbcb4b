/* fleet/note.c: a batch of events as nodes send it to each other. See note.h.
 *
 * SPDX-License-Identifier: MIT */
#include "fleet/note.h"

#include "base/mem.h"

#define NOTE_VERSION "errand1"
#define TEXTS        8
#define EVENT_MIN    ((size_t)64) /* no event is shorter: three ids alone are longer */

static void put_text(struct buf *out, struct str text)
{
    if (str_absent(text)) {
        buf_c(out, "-");
        return;
    }
    buf_u64(out, text.len);
    buf_char(out, ':');
    buf_str(out, text);
}

static void put_number(struct buf *out, int64_t number)
{
    buf_i64(out, number);
    buf_char(out, ' ');
}

static void write_event(struct buf *out, const struct event *event)
{
    char id[TASK_ID_TEXT];
    char schedule[TASK_ID_TEXT];
    const struct str texts[TEXTS] = {event->type,
                                     event->queue,
                                     event->document,
                                     event->text,
                                     event->topic,
                                     event->name,
                                     id_none(event->schedule) ? STR_NONE
                                                              : id_text(event->schedule, schedule),
                                     STR_NONE};
    put_number(out, event->kind);
    put_number(out, event->at_ms);
    buf_str(out, id_text(event->task, id));
    buf_char(out, ' ');
    put_number(out, event->state);
    put_number(out, event->attempt);
    put_number(out, (int64_t)(event->percent * 1000));
    put_number(out, event->removed);
    buf_str(out, id_text(event->parent, id));
    buf_char(out, ' ');
    buf_str(out, id_text(event->family, id));
    buf_char(out, ' ');
    for (size_t i = 0; i < TEXTS; i++) {
        put_text(out, texts[i]);
    }
    buf_char(out, '\n');
}

void note_write(struct buf *out, struct str from, const struct event_batch *events)
{
    buf_c(out, NOTE_VERSION " ");
    buf_str(out, from);
    buf_char(out, '\n');
    for (size_t i = 0; i < events->count; i++) {
        write_event(out, &events->events[i]);
    }
}

/* ---- Reading ---- */

bool note_from(struct str text, struct str *from)
{
    struct str head = str_cut(&text, '\n');
    if (!str_is(str_cut(&head, ' '), NOTE_VERSION) || str_absent(head) || head.len == 0) {
        return false;
    }
    *from = head;
    return true;
}

bool note_is_new(struct note_memory *memory, struct str text)
{
    uint64_t hash = str_hash(text) | 1; /* an empty slot holds no note */
    uint64_t *slot = &memory->hashes[(hash >> 1) % NOTES_REMEMBERED];
    bool is_new = *slot != hash;
    *slot = hash;
    return is_new;
}

static bool take_number(struct str *text, int64_t *out)
{
    return !str_absent(*text) && str_i64(str_cut(text, ' '), out);
}

/* The all-zero id stands for none, which id_parse() rightly refuses elsewhere. */
static bool take_id(struct str *text, struct task_id *out)
{
    struct str word = str_absent(*text) ? STR_NONE : str_cut(text, ' ');
    if (str_is(word, "00000000-0000-0000-0000-000000000000")) {
        *out = TASK_ID_NONE;
        return true;
    }
    return !str_absent(word) && id_parse(word, out);
}

static bool take_text(struct str *text, struct arena *arena, struct str *out)
{
    uint64_t len;
    if (!str_absent(*text) && str_starts(*text, STR("-"))) {
        *text = str_from(*text, 1);
        *out = STR_NONE;
        return true;
    }
    if (str_absent(*text) || !str_u64(str_cut(text, ':'), &len) || str_absent(*text) ||
        len > text->len) {
        return false;
    }
    *out = arena_str(arena, (struct str){text->ptr, len});
    *text = str_from(*text, len);
    return true;
}

static bool take_texts(struct str *text, struct arena *arena, struct event *event)
{
    struct str texts[TEXTS];
    for (size_t i = 0; i < TEXTS; i++) {
        if (!take_text(text, arena, &texts[i])) {
            return false;
        }
    }
    event->type = texts[0];
    event->queue = texts[1];
    event->document = texts[2];
    event->text = texts[3];
    event->topic = texts[4];
    event->name = texts[5];
    if (!str_absent(texts[6]) && !id_parse(texts[6], &event->schedule)) {
        return false;
    }
    if (text->len == 0 || text->ptr[0] != '\n') {
        return false;
    }
    *text = str_from(*text, 1);
    return true;
}

static bool take_event(struct str *text, struct arena *arena, struct event *event, int64_t *kind)
{
    int64_t state, attempt, percent, removed;
    *event = (struct event){0};
    if (!take_number(text, kind) || !take_number(text, &event->at_ms) ||
        !take_id(text, &event->task) || !take_number(text, &state) ||
        !take_number(text, &attempt) || !take_number(text, &percent) ||
        !take_number(text, &removed) || !take_id(text, &event->parent) ||
        !take_id(text, &event->family) || !take_texts(text, arena, event) || state < 0 ||
        state >= TASK_STATES || attempt < 0 || attempt > INT32_MAX) {
        return false;
    }
    event->state = (enum task_state)state;
    event->attempt = (int32_t)attempt;
    event->percent = (double)percent / 1000;
    event->removed = removed != 0;
    return true;
}

static bool read_events(struct str text, struct event_batch *batch, struct err *err)
{
    batch->events = arena_array(&batch->arena, struct event, text.len / EVENT_MIN + 1);
    while (text.len > 0) {
        int64_t kind;
        struct event *event = &batch->events[batch->count];
        if (!take_event(&text, &batch->arena, event, &kind)) {
            return err_set(err, ERR_INVALID, "a note from another node cannot be read");
        }
        if (kind >= 0 && kind < EVENT_KINDS) {
            event->kind = (enum event_kind)kind;
            batch->count++;
        }
    }
    return true;
}

bool note_read(struct str text, struct event_batch **out, struct err *err)
{
    struct str from;
    if (!note_from(text, &from)) {
        return err_set(err, ERR_INVALID, "this is no note of another node");
    }
    (void)str_cut(&text, '\n');
    struct event_batch *batch = mem_new(struct event_batch);
    if (!read_events(str_absent(text) ? STR("") : text, batch, err)) {
        event_batch_free(batch);
        return false;
    }
    *out = batch;
    return true;
}
