/* task/reserved.c: the table of reserved names. See reserved.h.
 *
 * SPDX-License-Identifier: MIT */
#include "task/reserved.h"

#include <stddef.h>

static const struct reserved {
    const char *field;
    size_t at;          /* where its text lies in struct task */
    const char *begins; /* names that begin so; with `whole` that name alone */
    bool whole;
    const char *but_for; /* types that begin so may use it; NULL: none */
    const char *whose;
} table[] = {
    {"idempotencyKey", offsetof(struct task, key), RESERVED_DELIVERY_KEY, false, NULL,
     "deliveries"},
    {"idempotencyKey", offsetof(struct task, key), RESERVED_FAILURE_KEY, false, NULL, "deliveries"},
    {"taskType", offsetof(struct task, type), RESERVED_TEAM_TYPE, false, NULL, "teams"},
    {"taskType", offsetof(struct task, type), RESERVED_CLOUD_TYPE, true, NULL,
     "the Cloud Tasks API"},
    {"queue", offsetof(struct task, queue), RESERVED_TEAM_QUEUE, false, NULL, "teams"},
    {"queue", offsetof(struct task, queue), RESERVED_DELIVERY_QUEUE, true, RESERVED_DELIVERY_TYPE,
     "deliveries"},
};

static bool takes(const struct reserved *row, const struct task *task)
{
    struct str text = *(const struct str *)(const void *)((const char *)task + row->at);
    bool named = !str_absent(text) &&
                 (row->whole ? str_is(text, row->begins) : str_starts(text, str_of(row->begins)));
    return named && (row->but_for == NULL || !str_starts(task->type, str_of(row->but_for)));
}

bool reserved_check(const struct task *task, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        if (takes(&table[i], task)) {
            return err_field(err, table[i].field, "%s must not %s %s: that is reserved for %s",
                             table[i].field, table[i].whole ? "be" : "begin with", table[i].begins,
                             table[i].whose);
        }
    }
    return true;
}

bool reserved_for_teams(struct str queue)
{
    return str_starts(queue, STR(RESERVED_TEAM_QUEUE));
}
