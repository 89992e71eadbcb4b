/* net/params.h: the query of a request is read by a table, like a body: one row a parameter.
 *
 * The rows also describe the parameters in openapi.json. A name that is not in the table is
 * refused, and so is one given twice or left empty.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_PARAMS_H
#define ERRAND_NET_PARAMS_H

#include "base/arena.h"
#include "base/err.h"

struct param {
    struct str name;
    bool (*set)(void *into, struct str value, struct err *err);
    const char *schema; /* JSON schema of its value */
    const char *about;
};

struct params {
    const struct param *at;
    size_t count;
};

#define PARAM(name, set, schema, about)                                                            \
    {                                                                                              \
        {name, sizeof(name) - 1}, set, schema, about                                               \
    }
#define PARAMS(table) ((struct params){(table), ARRAY_LEN(table)})
#define PARAMS_MAX    32 /* rows of one table */

extern const struct params no_params;

MUST_CHECK bool params_read(struct str query, struct params params, struct arena *arena, void *into,
                            struct err *err);

/* The row of that name, or NULL. */
const struct param *params_find(struct params params, struct str name);

/* A number from `min` to `max`; otherwise a refusal that names the field. */
MUST_CHECK bool param_i64(const char *name, struct str value, int64_t min, int64_t max,
                          int64_t *out, struct err *err);

#endif
