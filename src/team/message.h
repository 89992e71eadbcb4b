/* team/message.h: what the members of a team say to each other.
 *
 * A message is a record that belongs to its team and lives as long. Their ids grow in the order in
 * which they were said, on any number of nodes, so whoever remembers the last one it read goes on
 * behind it.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TEAM_MESSAGE_H
#define ERRAND_TEAM_MESSAGE_H

#include "store/record.h"
#include "wire/form.h"

#define MESSAGE_BODY_MAX (16 * KIB)
#define MESSAGES_MAX     1000 /* of one team, results that were broadcast not counted */
#define MESSAGE_RESULT_MAX                                                                         \
    (64 * KIB) /* a result above it is not broadcast, only that it is there */

struct team_message {
    struct task_id id, team;
    struct str from, to; /* to absent: for everybody */
    struct str body;     /* JSON as sent */
    struct task_id task; /* whose result it is; none: somebody said it */
    struct str title;    /* of that task */
    int64_t created_ms;
    int64_t number; /* 1 for the first that was said; results do not count */
};

extern const struct form team_message_form;    /* as it is kept and shown */
extern const struct form team_message_request; /* as somebody says it */

MUST_CHECK bool team_message_load(const struct record *record, struct arena *arena,
                                  struct team_message *out, struct err *err);
struct record team_message_record(const struct team_message *message, struct arena *arena);

bool team_message_is_for(const struct team_message *message,
                         struct str agent); /* absent: for anybody */

void team_message_write(struct json_writer *w,
                        const struct team_message *message); /* as clients see it */

#endif
