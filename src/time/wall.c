/* time/wall.c: wall times as text. See wall.h.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "time/wall.h"

#include "wire/time.h"

#define TEXT_MAX 40
#define WALL_LEN 19 /* 2027-03-01T09:00:00 */

/* A wall time is a point in time that lacks its Z. */
static bool parse_as_utc(struct str text, int64_t *out_s)
{
    char with_z[TEXT_MAX + 1];
    int64_t ms;
    if (text.len >= TEXT_MAX) {
        return false;
    }
    memcpy(with_z, text.ptr, text.len);
    with_z[text.len] = 'Z';
    if (!time_parse((struct str){with_z, text.len + 1}, &ms, NULL)) {
        return false;
    }
    *out_s = wall_div(ms, 1000);
    return true;
}

bool wall_parse(struct str text, int64_t *out_s, struct err *err)
{
    return (text.len > 0 && parse_as_utc(text, out_s)) ||
           err_set(err, ERR_INVALID, "must be a local time like 2027-03-01T09:00:00");
}

void wall_write(struct buf *buf, int64_t wall_s)
{
    char text[TIME_TEXT_LEN + 1];
    time_text(wall_s * 1000, text);
    buf_add(buf, text, WALL_LEN);
}

bool when_parse(struct str text, struct when *out, struct err *err)
{
    struct err ignored = ERR_INIT;
    int64_t ms, s;
    if (wall_parse(text, &s, &ignored)) {
        *out = (struct when){false, s};
        return true;
    }
    if (time_parse(text, &ms, &ignored)) {
        *out = (struct when){true, wall_div(ms, 1000)};
        return true;
    }
    return err_set(err, ERR_INVALID,
                   "must be a local time like 2027-03-01T09:00:00, or one with Z or an offset");
}
