/* tests/fuzz/fuzz_http.c: in whatever pieces a message comes, it is understood the same.
 *
 * The first byte chooses: requests or responses, and how the text is cut.
 *
 * SPDX-License-Identifier: MIT */
#include "base/arena.h"
#include "base/buf.h"
#include "fuzz.h"
#include "wire/feed.h"

#define NOTES_MAX (64 * MIB)
#define BODY_MAX  4096

/* Small pieces mostly; a few bytes decide much. */
static size_t at_random(void *arg)
{
    uint32_t *seed = arg;
    *seed = *seed * 1664525u + 1013904223u;
    uint32_t dice = *seed >> 16;
    return 1 + dice % (dice & 1 ? 3 : 40);
}

static void feed(struct str text, char kind, feed_piece *piece, void *arg, struct buf *notes)
{
    if (kind & 1) {
        feed_responses(text, kind & 2, BODY_MAX, piece, arg, notes);
    } else {
        feed_requests(text, BODY_MAX, piece, arg, notes);
    }
}

void fuzz_one(struct str text)
{
    SCOPED(buf_fini) struct buf whole = BUF_INIT(NOTES_MAX), pieces = BUF_INIT(NOTES_MAX);
    if (text.len == 0) {
        return;
    }
    char kind = text.ptr[0];
    uint32_t seed = (unsigned char)kind * 2654435761u;
    text = str_from(text, 1);
    feed(text, kind, feed_all, NULL, &whole);
    feed(text, kind, at_random, &seed, &pieces);
    FUZZ_CLAIM(str_eq(buf_view(&whole), buf_view(&pieces)));
}
