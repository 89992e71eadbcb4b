/* broker/memory/document.h: documents, the groups of ready tasks that share one, and the tasks.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_BROKER_MEMORY_DOCUMENT_H
#define ERRAND_BROKER_MEMORY_DOCUMENT_H

#include "broker/memory/memory.h"

struct document *document_find(const struct memory *m, struct str text); /* or NULL */
struct document *document_get(struct memory *m, struct str text);
void document_put(struct memory *m, struct document *document); /* frees it if nobody needs it */
void document_hold(struct memory *m, struct document *document, struct task_id holder);
void document_let_go(struct memory *m, struct document *document);
void documents_free(struct memory *m);

static inline bool document_held(const struct document *document)
{
    return link_in_list(&document->held);
}

static inline struct str document_text(const struct document *document)
{
    return (struct str){document->text, document->len};
}

static inline struct group *group_of(const struct link *link) /* in document.groups */
{
    return HOLDER(link, struct group, link);
}

void group_join(struct memory *m, struct document *document, struct entry *entry);
void group_leave(struct memory *m, struct entry *entry); /* frees group and document if empty */

/* ---- memory.c: ready tasks ---- */

struct entry *entry_find(const struct memory *m, struct task_id id); /* or NULL */
void entry_drop(struct memory *m, struct entry *entry);

static inline struct entry *entry_of(const struct spot *spot)
{
    return HOLDER(spot, struct entry, spot);
}

static inline struct task_id entry_id(const struct entry *entry)
{
    return (struct task_id){entry->spot.key.hi, entry->lo};
}

#endif
