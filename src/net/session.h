/* net/session.h: a browser that has signed in: a cookie that stands for a token.
 *
 * Nothing is stored. The cookie holds the token itself, sealed with a key that follows from the
 * token's hash, together with when the session began and when it ends:
 *
 *     errand_session=TOKEN ID.BASE64(nonce, sealed(began, ends, token), tag)
 *
 * So every node that knows the token knows its sessions, and with a revoked token they are over at
 * once. Whoever steals the cookie cannot read the token in it, because he lacks the hash; whoever
 * reads the hashes in the store cannot make a cookie, because he lacks the token.
 *
 * What was signed out is remembered until it would have ended, and told to the other nodes. A node
 * knows of that only since its start, and only of so many: it takes no session that began before
 * the time from which on it knows all. A restart therefore ends the sessions on that node.
 *
 * Thread: any; a mutex guards what was signed out and who guesses.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_SESSION_H
#define ERRAND_NET_SESSION_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "net/token.h"

#define SESSION_COOKIE     "errand_session"
#define SESSION_MS         (12 * HOUR_MS)
#define SESSION_NONCE      12
#define SESSION_COOKIE_MAX 512  /* bytes of a cookie's value that are looked at */
#define SESSION_OVER_MAX   4096 /* signed out and remembered; beyond it older sessions end too */
#define SESSION_TOKEN_MAX  256  /* bytes of a token that somebody signs in with */

struct sessions;

struct session {
    struct token_who who;
    unsigned char nonce[SESSION_NONCE]; /* by which it is known */
    int64_t began_ms;                   /* by the machine's clock, whatever tasks live by */
    int64_t ends_ms;                    /* by the clock that tasks live by */
};

struct sessions *sessions_new(const struct clock *clock); /* borrowed: by which sessions end */
void sessions_free(struct sessions *sessions);            /* NULL is welcome */

/* A new session of the token, as a cookie's value in `arena`. False: there is no such token.
 * `loop_ms`: as for token_check(). */
MUST_CHECK bool session_begin(struct sessions *sessions, struct token_book *book, int64_t loop_ms,
                              struct str token, struct arena *arena, struct str *out);

/* Whose session a cookie is. False: none, or it is over. */
MUST_CHECK bool session_check(struct sessions *sessions, struct token_book *book, int64_t loop_ms,
                              struct str cookie, struct session *out);

void session_end(struct sessions *sessions, const struct session *session); /* signed out */

/* The same as nodes tell each other: NONCE IN HEX <space> BEGAN <space> ENDS. */
void session_write_end(struct buf *out, const struct session *session);
MUST_CHECK bool session_read_end(struct str text, struct session *out);

/* Wrong tokens of a peer in a row are slowed down: how long it has to wait; 0: it may try. */
int64_t session_guess_wait_ms(struct sessions *sessions, uint64_t peer, int64_t loop_ms);
void session_guessed(struct sessions *sessions, uint64_t peer, bool right, int64_t loop_ms);

#endif
