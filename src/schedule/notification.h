/* schedule/notification.h: a message on the WEB channel: kept until its user has read it, and for a
 * while longer.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_SCHEDULE_NOTIFICATION_H
#define ERRAND_SCHEDULE_NOTIFICATION_H

#include "store/record.h"
#include "wire/form.h"

enum { NOTIFICATION_UNREAD, NOTIFICATION_READ }; /* marks of their records */

struct notification {
    struct task_id id, schedule, execution;
    struct str user, chat; /* absent: nobody's in particular */
    struct str title, content;
    bool read;
    int64_t created_ms, read_ms;

    /* Not shown: */
    int64_t expires_ms; /* removed then; 0: never */
    int64_t version;    /* of its record; 0: new. Not in the body */
};

extern const struct form notification_form;

MUST_CHECK bool notification_load(const struct record *record, struct arena *arena,
                                  struct notification *out, struct err *err);
struct record notification_record(const struct notification *notification, struct arena *arena);
void notification_write(struct json_writer *w, const struct notification *notification);

/* The topics that tell of new ones: a user's own, and that of whoever may see all. */
#define NOTIFICATIONS_OF_ALL STR("notifications")
struct str notification_topic(struct str user, struct arena *arena);

#endif
