/* queue/document.h: who holds a document and who waits for it, as far as this node can know.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_QUEUE_DOCUMENT_H
#define ERRAND_QUEUE_DOCUMENT_H

#include "queue/command.h"

#define WAITING_MAX ((size_t)1000)

bool document_look(struct batch *batch, struct str document, size_t most, struct arena *arena,
                   struct document_view *out);
size_t document_ahead(struct batch *batch, const struct document_view *view, struct task_id id);

#endif
