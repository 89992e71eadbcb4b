/* net/backlog.h: the newest events, numbered, for those who read along or come back.
 *
 * Bounded in number and in bytes: the oldest leave first. An event is written as text once, when
 * somebody first wants it.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_BACKLOG_H
#define ERRAND_NET_BACKLOG_H

#include "base/buf.h"
#include "queue/event.h"
#include "wire/redact.h"

struct backlog_entry {
    struct event event; /* its texts lie in `texts` */
    struct buf text;    /* as sent; empty until wanted */
    size_t size;
    char texts[];
};

struct backlog {
    struct backlog_entry **ring;
    size_t max, bytes_max;
    uint64_t first, next; /* numbers: the oldest that is kept, and the next one given out */
    size_t bytes;
};

void backlog_init(struct backlog *backlog, uint64_t first, size_t max, size_t bytes_max);
void backlog_fini(struct backlog *backlog);

/* An entry that is in no backlog yet: a copy of the event and its texts. */
struct backlog_entry *backlog_entry_new(const struct event *event);
void backlog_entry_free(struct backlog_entry *entry); /* NULL is welcome */

void backlog_add(struct backlog *backlog, struct backlog_entry *entry); /* takes it */
const struct event *backlog_event(const struct backlog *backlog, uint64_t number);
struct str backlog_text(struct backlog *backlog, uint64_t number);

/* "id: N", "event: state", "data: {…}", an empty line. The number 0 is left out. */
/* An event of a topic for those who follow the whole system: a message says whose it is. */
void event_name_topic(struct buf *buf, const struct event *event, struct str text);
/* An event that was written, without what its reader may not see. */
void event_redact(struct buf *buf, const struct redact_keys *keys, struct str text);
void event_write(struct buf *buf, uint64_t number, const struct event *event);
const char *event_kind_name(enum event_kind kind);

#endif
