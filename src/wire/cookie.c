/* wire/cookie.c: see cookie.h.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "wire/cookie.h"

bool cookie_find(const struct http_headers *headers, const char *name, struct str *out)
{
    struct str found = STR_NONE;
    for (size_t i = 0; i < headers->count; i++) {
        struct str rest = headers->list[i].value;
        if (!str_eq_nocase(headers->list[i].name, STR("cookie"))) {
            continue;
        }
        while (!str_absent(rest)) { /* str_cut() leaves none behind the last */
            struct str value = str_cut(&rest, ';');
            struct str key = str_trim(str_cut(&value, '='));
            if (str_absent(value) || !str_is(key, name)) {
                continue;
            }
            value = str_trim(value);
            bool quoted = value.len >= 2 && value.ptr[0] == '"' && value.ptr[value.len - 1] == '"';
            value = quoted ? (struct str){value.ptr + 1, value.len - 2} : value;
            if (!str_absent(found) && !str_eq(found, value)) {
                return false;
            }
            found = value;
        }
    }
    if (!str_absent(found)) {
        *out = found;
    }
    return !str_absent(found);
}
