/* net/token.h: bearer tokens: who may speak to the server.
 *
 * They live in the file `tokens` of the data folder, one line each, and only as hashes: the text
 * is shown once, when it is made. `errand token` changes the file beside a running server (each
 * change replaces it whole, under a lock), and the server reads it again when it has changed. Those
 * of a fleet are rows of its store (token_store.h); a node takes both.
 *
 *     ID <tab> SHA-256 IN HEX <tab> ROLE <tab> USER <tab> CREATED AT [<tab> NAME <tab> EXPIRES AT]
 *
 * The last two are written where there is one of them. A server that is too old to know them takes
 * such a token for none: it would not see that it has expired.
 *
 * Thread: a book belongs to one net loop; create, list and revoke may be called by any process.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_TOKEN_H
#define ERRAND_NET_TOKEN_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/rand.h"

#define TOKENS_MAX     1000 /* in one file */
#define TOKEN_USER_MAX 128
#define TOKEN_NAME_MAX 64
#define TOKEN_HASH     32
#define TOKEN_TEXT     (7 + 43 + 1) /* "errand_", 32 bytes in base64url, the NUL */
#define TOKEN_ID_TEXT  (12 + 1)     /* hex digits, the NUL */

enum role { ROLE_NONE, ROLE_READ, ROLE_PRODUCE, ROLE_WORK, ROLE_ADMIN, ROLES };

const char *role_name(enum role role);
MUST_CHECK bool role_parse(struct str name, enum role *out); /* read, produce, work, admin */

struct token {
    char id[TOKEN_ID_TEXT];
    unsigned char hash[TOKEN_HASH];
    enum role role;
    char user[TOKEN_USER_MAX + 1]; /* "": of no particular user */
    char name[TOKEN_NAME_MAX + 1]; /* whom or what it is for, so that people know it again; "": - */
    int64_t created_ms;
    int64_t expires_ms; /* 0: it does not */
};

/* What is asked for. */
struct token_order {
    enum role role;
    struct str user, name; /* may be absent */
    int64_t expires_ms;    /* 0: never */
};

/* A new one and its text, which is kept nowhere. */
MUST_CHECK bool token_make(const struct token_order *order, int64_t wall_ms, struct rand *rand,
                           struct token *out, char out_text[static TOKEN_TEXT], struct err *err);

/* ---- What `errand token` does ---- */

/* As token_make(), and keeps it. */
MUST_CHECK bool token_create(const char *folder, const struct token_order *order, int64_t wall_ms,
                             struct rand *rand, struct token *out, char out_text[static TOKEN_TEXT],
                             struct err *err);

/* All of them, oldest first, in `arena`. No file: none. */
MUST_CHECK bool token_list(const char *folder, struct arena *arena, struct token **out,
                           size_t *out_count, struct err *err);

MUST_CHECK bool token_revoke(const char *folder, struct str id, struct err *err);

/* ---- What the server does ---- */

struct token_book; /* the file's content and the fleet's, kept up to date */

struct token_who {
    enum role role;
    char id[TOKEN_ID_TEXT];
    char user[TOKEN_USER_MAX + 1]; /* "": not limited to a user */
};

/* Reads the file. One that cannot be read or understood is an error here; later on the book keeps
 * what it knew and the log says why. Tokens expire by `clock`, which is borrowed. */
MUST_CHECK bool token_book_open(const char *folder, const struct clock *clock,
                                struct token_book **out, struct err *err);
/* One for another loop: it reads the same file, and hears of what is shared with `book`, before
 * that begins. Closed before it. */
MUST_CHECK bool token_book_follow(struct token_book *book, struct token_book **out,
                                  struct err *err);
void token_book_close(struct token_book *book); /* NULL is welcome */

/* Those of the fleet, as they are now: copied, and taken over before the next check. Any thread. */
void token_book_share(struct token_book *book, const struct token *tokens, size_t count);

/* How many there are now. `now_ms` is the loop's time: the file is looked at once per value. */
size_t token_book_count(struct token_book *book, int64_t now_ms);

/* Whether a token is needed: once there was one it is until the book is closed. Whoever revokes the
 * last token shuts everybody out; a file that was deleted or emptied lets nobody in. */
bool token_book_on(struct token_book *book, int64_t now_ms);

/* The token of that id, as it is kept; for sessions, whose cookies are sealed by its hash. */
MUST_CHECK bool token_book_find(struct token_book *book, int64_t now_ms, struct str id,
                                struct token *out);

/* True and *out filled if `bearer` is a token that has not expired; else ERR_DENIED. Takes equally
 * long for every wrong one. */
MUST_CHECK bool token_check(struct token_book *book, int64_t now_ms, struct str bearer,
                            struct token_who *out, struct err *err);

#endif
