/* net/schedule_in.h: wishes about schedules out of JSON, read by the table of their fields.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_SCHEDULE_IN_H
#define ERRAND_NET_SCHEDULE_IN_H

#include "english/english.h"
#include "net/call.h"
#include "schedule/planner.h"

/* What a request may bring beside the fields of a schedule: `cron`, `text`, `now`. */
extern const struct form schedule_change_more, schedule_create_more, schedule_preview_more;

/* Whose things are meant: those of the token's user, or of the one asked for; `what` says it in a
 * refusal: "schedules of its own user". */
MUST_CHECK bool call_choose_user(const struct call *call, const char *what, struct str *user,
                                 struct err *err);

struct schedule_in {
    bool preview;  /* it may bring `now` and needs no title */
    bool tolerant; /* a refusal is an answer like others: 200 with the mode REFUSAL */
    void (*ready)(struct call *call, struct schedule_in *in); /* it is settled */
    struct schedule schedule;
    uint64_t given; /* rows of the form that were there */
    struct str cron, text;
    int64_t now_ms;                   /* of a preview; else now */
    struct english_refusal refusal;   /* of a text: what would have to be said otherwise */
    const struct english_word *words; /* of a text: what each was taken for */
    size_t words_count;
};

/* The body of POST /api/schedules, and of /preview. A text is understood first, which may take a
 * while. Afterwards the schedule is settled, and `ready` goes on; otherwise the call was answered:
 * malformed fields are 400 and named; a request without any time, and a text that cannot be meant,
 * are 422. False: `err` is the answer. */
MUST_CHECK bool schedule_in_read(struct call *call, struct schedule_in *in, struct err *err);

/* The pieces of it: only read; what a text said goes where the client said nothing; settled. */
MUST_CHECK bool schedule_in_parse(struct call *call, struct json *json, struct schedule_in *out,
                                  struct err *err);
void schedule_in_take(struct schedule_in *in, const struct schedule *said);
MUST_CHECK bool schedule_in_settle(struct call *call, struct schedule_in *in, struct err *err);

/* The body of a PATCH: the values it gives, and which they are. */
MUST_CHECK bool schedule_in_change(struct call *call, struct schedule_change *out, struct err *err);

#endif
