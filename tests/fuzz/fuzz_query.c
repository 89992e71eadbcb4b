/* tests/fuzz/fuzz_query.c: addresses, queries and base64 go there and back.
 *
 * SPDX-License-Identifier: MIT */
#include "fuzz.h"
#include "wire/base64.h"
#include "wire/uri.h"

#define ROOM (64 * MIB)

static void check_decode(struct str text, struct arena *arena)
{
    SCOPED(buf_fini) struct buf buf = BUF_INIT(ROOM);
    struct str plain, back;
    if (!uri_decode(text, arena, &plain, NULL)) {
        return;
    }
    FUZZ_CLAIM(str_is_utf8(plain) && plain.len <= text.len);
    if (plain.len == 0 || memchr(plain.ptr, '\0', plain.len) == NULL) { /* raw NULs stay */
        uri_encode(&buf, plain);
        FUZZ_CLAIM(uri_decode(buf_view(&buf), arena, &back, NULL));
        FUZZ_CLAIM(str_eq(plain, back));
    }
}

static void check_query(struct str query, struct arena *arena)
{
    struct err err = ERR_INIT;
    struct str key, value;
    size_t pairs = 0, most = query.len + 1;
    while (uri_pair(&query, arena, &key, &value, &err)) {
        FUZZ_CLAIM(str_is_utf8(key) && str_is_utf8(value) && !str_absent(value));
        FUZZ_CLAIM(++pairs <= most);
    }
    FUZZ_CLAIM(str_absent(query) == (err.kind == ERR_NONE));
}

static void check_path(struct str path)
{
    size_t bytes = 0, segments = 0, len = path.len;
    bool rooted = path.len > 0 && path.ptr[0] == '/';
    for (;;) {
        struct str segment = uri_segment(&path);
        if (str_absent(segment)) {
            break;
        }
        bytes += segment.len;
        segments++;
    }
    FUZZ_CLAIM(bytes + segments == len + (rooted ? 0 : 1));
}

static void check_uri(struct str text)
{
    struct uri uri;
    struct str host;
    uint16_t port;
    if (uri_parse(text, &uri, NULL)) {
        FUZZ_CLAIM(uri.host.len > 0 && uri.path.len > 0 && uri.scheme.len > 0);
        FUZZ_CLAIM(uri.path.ptr[0] == '/');
    }
    if (uri_parse_address(text, 7, &host, &port, NULL)) {
        FUZZ_CLAIM(host.len > 0 && host.len <= URI_HOST_MAX);
    }
}

static void check_base64(struct str text, struct arena *arena)
{
    SCOPED(buf_fini) struct buf buf = BUF_INIT(ROOM);
    struct str bytes;
    if (base64_decode(text, arena, &bytes, NULL)) {
        base64_write(&buf, bytes);
        FUZZ_CLAIM(str_eq(buf_view(&buf), text));
    }
    buf_clear(&buf);
    base64_write(&buf, text);
    FUZZ_CLAIM(base64_decode(buf_view(&buf), arena, &bytes, NULL) && str_eq(bytes, text));
}

void fuzz_one(struct str text)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct str present = text.len == 0 ? (struct str){"", 0} : text;
    check_decode(present, &arena);
    check_query(present, &arena);
    check_path(present);
    check_uri(present);
    check_base64(present, &arena);
}
