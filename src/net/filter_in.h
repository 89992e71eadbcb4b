/* net/filter_in.h: which tasks: the query of a list, and the body of a bulk command.
 *
 * Both have the same names and take the same values.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_FILTER_IN_H
#define ERRAND_NET_FILTER_IN_H

#include "store/store.h"
#include "wire/form.h"

#define LIST_LIMIT_DEFAULT 50
#define LIST_LIMIT_MAX     500

extern const struct form filter_form; /* into a struct task_filter */
extern const struct form list_form;   /* the same, and id, limit and cursor */
extern const struct form reason_form; /* into a struct bulk_in, beside the filter */

/* A list by the beginning of an id: where it ends, once all of the query is read; and whether a
 * task is meant, since the stretch that is read may hold a neighbour. */
void filter_narrow(struct task_filter *filter);
bool filter_begins(const struct task_filter *filter, struct task_id id);

/* The body of POST /api/tasks/cancel and …/retry: the filter's names, and `reason` if asked for.
 * An empty filter is refused: nobody means all tasks by accident. */
struct bulk_in {
    struct task_filter filter;
    bool takes_reason;
    struct str reason; /* absent when not given */
};
MUST_CHECK bool bulk_read(struct json *json, struct bulk_in *in, struct err *err);

/* The rows of every list: how many (a size_t), and where the page begins (a struct task_id), which
 * is told by cursor_text() of the last that was shown. */
#define CURSOR_TEXT 33
struct str cursor_text(struct task_id last, char out[static CURSOR_TEXT]);
extern const struct form_hook cursor_hook;
#define LIMIT_ROW(type, member, sentence)                                                          \
    FORM_ROW("limit", type, member, FORM_SIZE, FORM_SET | FORM_DEFAULT, .min = 1,                  \
             .max = LIST_LIMIT_MAX, .standard = LIST_LIMIT_DEFAULT, .about = sentence)
#define CURSOR_ROW(type, member)                                                                   \
    FORM_ROW("cursor", type, member, FORM_HOOK, FORM_SET, .hook = &cursor_hook,                    \
             .schema = "{\"type\":\"string\",\"minLength\":1}",                                    \
             .about = "Where the page begins: from the Link header.")
#define TOKEN_ROW /* whoever sent it is known already */                                           \
    {                                                                                              \
        .name = {"access_token", sizeof "access_token" - 1}, .kind = FORM_NONE, .use = FORM_SET,   \
        .about = "The token, for readers that send no headers."                                    \
    }

#endif
