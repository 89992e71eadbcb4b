/* client/redis_url.c: where a Redis is and what it wants to hear first. See redis.h.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "client/redis.h"
#include "wire/uri.h"

#define DB_MAX 65535

/* No part of the text is repeated in an error: it may be the password. */
static bool read_userinfo(struct str info, struct arena *arena, struct redis_url *out,
                          struct err *err)
{
    struct str rest = info, user = str_cut(&rest, ':'), password;
    if (str_absent(rest) || rest.len == 0) {
        return err_set(err, ERR_INVALID, "a password stands between ':' and '@'");
    }
    if (!uri_decode(user, arena, &user, err) || !uri_decode(rest, arena, &password, err)) {
        return false;
    }
    out->user = user.len == 0 ? STR_NONE : arena_str(arena, user);
    out->password = arena_str(arena, password);
    return true;
}

static bool read_db(struct str path, uint64_t *out, struct err *err)
{
    struct str number = str_from(path, 1);
    if (number.len > 0 && (!str_u64(number, out) || *out > DB_MAX)) {
        return err_set(err, ERR_INVALID, "a database of Redis is a number, like /1");
    }
    return true;
}

bool redis_url_parse(struct str url, struct arena *arena, struct redis_url *out, struct err *err)
{
    struct uri uri;
    struct redis_url found = {0};
    if (!uri_parse(url, &uri, NULL)) {
        return err_set(err, ERR_INVALID, "must be an address like redis://127.0.0.1:6379/0");
    }
    if (str_eq_nocase(uri.scheme, STR("rediss"))) {
        return err_set(err, ERR_INVALID,
                       "rediss:// (TLS) is not supported; use redis:// through a tunnel");
    }
    if (!str_eq_nocase(uri.scheme, STR("redis")) || !str_absent(uri.query) || uri.host.len == 0) {
        return err_set(err, ERR_INVALID, "must be an address like redis://127.0.0.1:6379/0");
    }
    if ((!str_absent(uri.userinfo) && !read_userinfo(uri.userinfo, arena, &found, err)) ||
        !read_db(uri.path, &found.db, err)) {
        return false;
    }
    found.host = arena_str(arena, uri.host);
    found.port = uri.port;
    *out = found;
    return true;
}
