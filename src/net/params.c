/* net/params.c: reading queries by table. See params.h.
 *
 * SPDX-License-Identifier: MIT */
#include "net/params.h"

#include "wire/uri.h"

const struct params no_params = {NULL, 0};

const struct param *params_find(struct params params, struct str name)
{
    for (size_t i = 0; i < params.count; i++) {
        if (str_eq(params.at[i].name, name)) {
            return &params.at[i];
        }
    }
    return NULL;
}

static bool refuse(struct str name, const char *why, struct err *err)
{
    char field[sizeof err->field];
    name.len = MIN(name.len, sizeof field - 1);
    if (name.len > 0) {
        memcpy(field, name.ptr, name.len);
    }
    field[name.len] = '\0';
    return err_field(err, field, "%s %s", field, why);
}

static bool take(struct params params, struct str name, struct str value, uint32_t *seen,
                 void *into, struct err *err)
{
    const struct param *param = params_find(params, name);
    if (param == NULL) {
        return refuse(name, "is not a known parameter", err);
    }
    uint32_t bit = (uint32_t)1 << (param - params.at);
    if ((*seen & bit) != 0) {
        return refuse(name, "is given twice", err);
    }
    *seen |= bit;
    return value.len == 0 ? refuse(name, "must not be empty", err) : param->set(into, value, err);
}

bool params_read(struct str query, struct params params, struct arena *arena, void *into,
                 struct err *err)
{
    struct str name, value;
    uint32_t seen = 0;
    while (uri_pair(&query, arena, &name, &value, err)) {
        if (!take(params, name, value, &seen, into, err)) {
            return false;
        }
    }
    return str_absent(query); /* else an escape was bad, and err says so */
}

bool param_i64(const char *name, struct str value, int64_t min, int64_t max, int64_t *out,
               struct err *err)
{
    int64_t number;
    if (!str_i64(value, &number) || number < min || number > max) {
        return err_field(err, name, "%s must be a whole number from %lld to %lld", name,
                         (long long)min, (long long)max);
    }
    *out = number;
    return true;
}
