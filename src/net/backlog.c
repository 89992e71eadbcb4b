/* net/backlog.c: the newest events, numbered. See backlog.h.
 *
 * SPDX-License-Identifier: MIT */
#include "net/backlog.h"

#include "base/mem.h"

#define EVENT_TEXT_MAX MIB /* far above the longest: log lines are bounded where they come in */

void backlog_init(struct backlog *backlog, uint64_t first, size_t max, size_t bytes_max)
{
    *backlog = (struct backlog){.max = max, .bytes_max = bytes_max, .first = first, .next = first};
    backlog->ring = mem_zero(max * sizeof(struct backlog_entry *));
}

static struct backlog_entry **place(const struct backlog *backlog, uint64_t number)
{
    return &backlog->ring[number % backlog->max];
}

static void drop_first(struct backlog *backlog)
{
    struct backlog_entry **entry = place(backlog, backlog->first++);
    backlog->bytes -= (*entry)->size + (*entry)->text.cap;
    backlog_entry_free(*entry);
    *entry = NULL;
}

void backlog_fini(struct backlog *backlog)
{
    while (backlog->first < backlog->next) {
        drop_first(backlog);
    }
    mem_free(backlog->ring);
}

static struct str copy_into(char **at, struct str text)
{
    if (str_absent(text)) {
        return text;
    }
    struct str copy = {*at, text.len};
    memcpy(*at, text.ptr, text.len);
    *at += text.len;
    return copy;
}

struct backlog_entry *backlog_entry_new(const struct event *event)
{
    size_t texts = event->type.len + event->queue.len + event->document.len + event->text.len +
                   event->topic.len + event->name.len;
    size_t size = sizeof(struct backlog_entry) + texts;
    struct backlog_entry *entry = mem_alloc(size);
    char *at = entry->texts;
    entry->event = *event;
    entry->text = BUF_INIT(EVENT_TEXT_MAX);
    entry->size = size;
    entry->event.type = copy_into(&at, event->type);
    entry->event.queue = copy_into(&at, event->queue);
    entry->event.document = copy_into(&at, event->document);
    entry->event.text = copy_into(&at, event->text);
    entry->event.topic = copy_into(&at, event->topic);
    entry->event.name = copy_into(&at, event->name);
    return entry;
}

void backlog_entry_free(struct backlog_entry *entry)
{
    if (entry != NULL) {
        buf_fini(&entry->text);
        mem_free(entry);
    }
}

void backlog_add(struct backlog *backlog, struct backlog_entry *entry)
{
    if (backlog->next - backlog->first == backlog->max) {
        drop_first(backlog);
    }
    *place(backlog, backlog->next++) = entry;
    backlog->bytes += entry->size;
    while (backlog->bytes > backlog->bytes_max && backlog->first + 1 < backlog->next) {
        drop_first(backlog);
    }
}

const struct event *backlog_event(const struct backlog *backlog, uint64_t number)
{
    return &(*place(backlog, number))->event;
}

struct str backlog_text(struct backlog *backlog, uint64_t number)
{
    struct backlog_entry *entry = *place(backlog, number);
    if (entry->text.len == 0) {
        event_write(&entry->text, number, &entry->event);
        backlog->bytes += entry->text.cap;
    }
    return buf_view(&entry->text);
}
