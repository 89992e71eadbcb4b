/* assist/assistant_parts.h: what the files of the assistant share.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_ASSIST_ASSISTANT_PARTS_H
#define ERRAND_ASSIST_ASSISTANT_PARTS_H

#include "assist/assistant.h"

#define ANSWER_IDS_MAX 100

/* What the model answered: absent texts were null or not there. */
struct assistant_answer {
    struct str mode, action;
    struct str title, description, purpose, category, rrule, dtstart, timezone;
    int one_time; /* negative: not said */
    struct str ids[ANSWER_IDS_MAX];
    size_t ids_count;
    bool refuses;
    struct english_refusal refusal;
};

struct str assistant_schema(struct arena *arena); /* JSON Schema of it */

MUST_CHECK bool assistant_answer_read(struct str json, struct arena *arena,
                                      struct assistant_answer *out, struct err *err);

void assistant_refuse(struct assistant_said *out, const char *field, struct str reason);
/* The schedules that may have been meant: all of that chat, or all. */
void assistant_offer(const struct assistant_asked *asked, struct arena *arena,
                     struct assistant_said *out);
/* A change gives the text of that name; absent: it is taken away. */
void assistant_set(struct schedule_change *change, const char *name, struct str text);
struct str assistant_zone(const struct assistant_asked *asked);
/* A new schedule is settled and has a time ahead; the field at fault is named. */
MUST_CHECK bool assistant_check(const struct assistant_asked *asked, struct schedule *schedule,
                                struct arena *arena, struct err *err);

#endif
