/* tests/fuzz/fuzz_session.c: a Cookie header of anybody's opens nothing that was not begun here.
 *
 * SPDX-License-Identifier: MIT */
#include "fuzz.h"
#include "net/session.h"
#include "wire/cookie.h"

static void check_end(struct str text)
{
    SCOPED(buf_fini) struct buf again = BUF_INIT(KIB);
    struct session once, twice;
    if (session_read_end(text, &once)) {
        session_write_end(&again, &once);
        FUZZ_CLAIM(session_read_end(buf_view(&again), &twice));
        FUZZ_CLAIM(memcmp(once.nonce, twice.nonce, SESSION_NONCE) == 0 &&
                   once.began_ms == twice.began_ms && once.ends_ms == twice.ends_ms);
    }
}

void fuzz_one(struct str text)
{
    struct http_header header = {STR("cookie"), text};
    const struct http_headers headers = {&header, 1};
    const struct token token = {.id = "0123456789ab", .role = ROLE_ADMIN};
    struct token_book *book = NULL;
    struct session session;
    struct clock clock;
    struct str cookie;
    struct err err = ERR_INIT;
    check_end(text);
    if (!cookie_find(&headers, SESSION_COOKIE, &cookie)) {
        return;
    }
    FUZZ_CLAIM(cookie.ptr >= text.ptr && cookie.ptr + cookie.len <= text.ptr + text.len);
    clock_init_by_hand(&clock, 0);
    FUZZ_CLAIM(token_book_open("/nowhere", &clock, &book, &err));
    token_book_share(book, &token, 1);
    struct sessions *sessions = sessions_new(&clock);
    FUZZ_CLAIM(!session_check(sessions, book, 1, cookie, &session));
    sessions_free(sessions);
    token_book_close(book);
}
