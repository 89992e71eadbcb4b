/* net/token.c: makes, checks and forgets tokens. See token.h.
 *
 * How the file is read and replaced is token_file.c's.
 *
 * SPDX-License-Identifier: MIT */
#include "net/token.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/token_file.h"
#include "wire/base64.h"
#include "wire/time.h"

#define TOKEN_PREFIX "errand_"
#define SECRET_BYTES 32
#define ID_BYTES     6

static const char *const role_names[ROLES] = {
    [ROLE_NONE] = "none", [ROLE_READ] = "read",   [ROLE_PRODUCE] = "produce",
    [ROLE_WORK] = "work", [ROLE_ADMIN] = "admin",
};

const char *role_name(enum role role)
{
    return role_names[role];
}

bool role_parse(struct str name, enum role *out)
{
    for (enum role role = ROLE_READ; role < ROLES; role++) {
        if (str_is(name, role_names[role])) {
            *out = role;
            return true;
        }
    }
    return false;
}

/* ---- Making and forgetting ---- */

static void hash_of(struct str text, unsigned char out[static TOKEN_HASH])
{
    SHA256((const unsigned char *)text.ptr, text.len, out);
}

/* "errand_" and 32 random bytes in base64url, without padding. */
static void make_text(struct rand *rand, char out[static TOKEN_TEXT])
{
    unsigned char secret[SECRET_BYTES];
    rand_bytes(rand, secret, sizeof secret);
    SCOPED(buf_fini) struct buf text = BUF_INIT(2 * TOKEN_TEXT);
    buf_c(&text, TOKEN_PREFIX);
    base64_write(&text, (struct str){(char *)secret, sizeof secret});
    for (size_t i = 0; i < TOKEN_TEXT - 1; i++) {
        char c = text.ptr[i];
        out[i] = c == '+' ? '-' : c == '/' ? '_' : c;
    }
    out[TOKEN_TEXT - 1] = '\0';
    OPENSSL_cleanse(secret, sizeof secret);
    OPENSSL_cleanse(text.ptr, text.len);
}

static void make_id(struct rand *rand, char out[static TOKEN_ID_TEXT])
{
    unsigned char bytes[ID_BYTES];
    rand_bytes(rand, bytes, sizeof bytes);
    for (size_t i = 0; i < ID_BYTES; i++) {
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    }
}

static bool word_ok(const char *field, struct str word, size_t most, struct err *err)
{
    if (word.len > most) {
        return err_field(err, field, "%s must have at most %zu bytes", field, most);
    }
    if (str_has_control(word) || !str_is_utf8(word)) {
        return err_field(err, field, "%s must be UTF-8 without control characters", field);
    }
    return true;
}

bool token_make(const struct token_order *order, int64_t wall_ms, struct rand *rand,
                struct token *out, char out_text[static TOKEN_TEXT], struct err *err)
{
    struct str user = order->user, name = order->name;
    if (!word_ok("user", user, TOKEN_USER_MAX, err) ||
        !word_ok("name", name, TOKEN_NAME_MAX, err)) {
        return false;
    }
    if (order->expires_ms != 0 && order->expires_ms <= wall_ms) {
        return err_field(err, "expires", "expires must be a time that is ahead");
    }
    *out =
        (struct token){.role = order->role, .created_ms = wall_ms, .expires_ms = order->expires_ms};
    make_text(rand, out_text);
    make_id(rand, out->id);
    hash_of(str_of(out_text), out->hash);
    memcpy(out->user, user.len > 0 ? user.ptr : "", user.len);
    memcpy(out->name, name.len > 0 ? name.ptr : "", name.len);
    return true;
}

bool token_create(const char *folder, const struct token_order *order, int64_t wall_ms,
                  struct rand *rand, struct token *out, char out_text[static TOKEN_TEXT],
                  struct err *err)
{
    SCOPED(token_lock_fini) int lock = -1;
    SCOPED(token_file_fini) struct token_file file = TOKEN_FILE_INIT;
    struct token token;
    char text[TOKEN_TEXT];
    if (!token_make(order, wall_ms, rand, &token, text, err) || !token_lock(folder, &lock, err) ||
        !token_file_read(folder, &file, err)) {
        return false;
    }
    if (file.count >= TOKENS_MAX) {
        return err_set(err, ERR_BUSY, "there are %d tokens already", TOKENS_MAX);
    }
    token_file_add(&file, &token);
    if (!token_file_write(folder, &file, err)) {
        return false;
    }
    memcpy(out_text, text, TOKEN_TEXT);
    *out = token;
    return true;
}

bool token_list(const char *folder, struct arena *arena, struct token **out, size_t *out_count,
                struct err *err)
{
    SCOPED(token_file_fini) struct token_file file = TOKEN_FILE_INIT;
    if (!token_file_read(folder, &file, err)) {
        return false;
    }
    *out = arena_array(arena, struct token, file.count);
    for (size_t i = 0; i < file.count; i++) {
        (*out)[i] = file.tokens[i];
    }
    *out_count = file.count;
    return true;
}

bool token_revoke(const char *folder, struct str id, struct err *err)
{
    SCOPED(token_lock_fini) int lock = -1;
    SCOPED(token_file_fini) struct token_file file = TOKEN_FILE_INIT;
    if (!token_lock(folder, &lock, err) || !token_file_read(folder, &file, err)) {
        return false;
    }
    size_t kept = 0;
    for (size_t i = 0; i < file.count; i++) {
        if (!str_is(id, file.tokens[i].id)) {
            file.tokens[kept++] = file.tokens[i];
        }
    }
    if (kept == file.count) {
        return err_set(err, ERR_NOT_FOUND, "there is no token " STR_FMT, STR_ARG(id));
    }
    file.count = kept;
    return token_file_write(folder, &file, err);
}

/* ---- The book ---- */

struct shared { /* of the fleet */
    size_t count;
    struct token tokens[];
};

struct token_book {
    char *folder;
    const struct clock *clock;
    struct token_file file;
    int64_t looked_ms;                /* when the file was looked at last */
    struct shared *shared;            /* NULL: none */
    _Atomic(struct shared *) arrived; /* from another thread, to take the place of `shared` */
    atomic_bool on;                   /* there was a token at some time since it was opened */
    struct token_book *follower;      /* hears of what is shared, and tells its own; NULL: none */
};

bool token_book_open(const char *folder, const struct clock *clock, struct token_book **out,
                     struct err *err)
{
    struct token_book *book = mem_new(struct token_book);
    book->clock = clock;
    book->folder = mem_text(folder, strlen(folder));
    book->looked_ms = -1;
    if (!token_file_read(folder, &book->file, err)) {
        token_book_close(book);
        return false;
    }
    atomic_store(&book->on, book->file.count > 0);
    *out = book;
    return true;
}

bool token_book_follow(struct token_book *book, struct token_book **out, struct err *err)
{
    const struct shared *arrived = atomic_load(&book->arrived);
    const struct shared *known = arrived != NULL ? arrived : book->shared;
    if (!token_book_open(book->folder, book->clock, out, err)) {
        return false;
    }
    if (known != NULL) {
        token_book_share(*out, known->tokens, known->count);
    }
    (*out)->follower = book->follower;
    book->follower = *out;
    return true;
}

void token_book_close(struct token_book *book)
{
    if (book != NULL) {
        token_file_fini(&book->file);
        mem_free(book->shared);
        mem_free(atomic_load(&book->arrived));
        mem_free(book->folder);
        mem_free(book);
    }
}

void token_book_share(struct token_book *book, const struct token *tokens, size_t count)
{
    struct shared *shared = mem_zero(sizeof *shared + count * sizeof *tokens);
    shared->count = count;
    for (size_t i = 0; i < count; i++) {
        shared->tokens[i] = tokens[i];
    }
    if (count > 0) { /* noted here: the loop may see only what comes after this */
        atomic_store(&book->on, true);
    }
    mem_free(atomic_exchange(&book->arrived, shared));
    if (book->follower != NULL) {
        token_book_share(book->follower, tokens, count);
    }
}

/* Reads the file again if it is another one now. A broken one changes nothing but the log. */
static void refresh(struct token_book *book, int64_t now_ms)
{
    struct shared *arrived = atomic_exchange(&book->arrived, NULL);
    if (arrived != NULL) {
        mem_free(book->shared);
        book->shared = arrived;
    }
    if (book->looked_ms == now_ms) {
        return;
    }
    book->looked_ms = now_ms;
    struct token_stamp stamp = token_file_stamp(book->folder);
    if (token_stamp_eq(stamp, book->file.stamp)) {
        return;
    }
    struct token_file fresh = TOKEN_FILE_INIT;
    struct err err = ERR_INIT;
    if (token_file_read(book->folder, &fresh, &err)) {
        token_file_fini(&book->file);
        book->file = fresh;
        if (fresh.count > 0) {
            atomic_store(&book->on, true);
        }
    } else {
        log_error("tokens stay as they were: %s", err.text);
        token_file_fini(&fresh);
        book->file.stamp = stamp; /* said once, not at every request */
    }
}

size_t token_book_count(struct token_book *book, int64_t now_ms)
{
    refresh(book, now_ms);
    return book->file.count + (book->shared == NULL ? 0 : book->shared->count);
}

bool token_book_on(struct token_book *book, int64_t now_ms)
{
    refresh(book, now_ms);
    return atomic_load(&book->on);
}

static const struct token *find_id(const struct token *tokens, size_t count, struct str id)
{
    for (size_t i = 0; i < count; i++) {
        if (str_is(id, tokens[i].id)) {
            return &tokens[i];
        }
    }
    return NULL;
}

bool token_book_find(struct token_book *book, int64_t now_ms, struct str id, struct token *out)
{
    refresh(book, now_ms);
    const struct token *found = find_id(book->file.tokens, book->file.count, id);
    if (found == NULL && book->shared != NULL) {
        found = find_id(book->shared->tokens, book->shared->count, id);
    }
    if (found != NULL) {
        *out = *found;
    }
    return found != NULL;
}

/* Looks at all of them, whichever it is. */
static const struct token *find(const struct token *tokens, size_t count,
                                const unsigned char hash[static TOKEN_HASH])
{
    const struct token *found = NULL;
    for (size_t i = 0; i < count; i++) {
        found = CRYPTO_memcmp(hash, tokens[i].hash, TOKEN_HASH) == 0 ? &tokens[i] : found;
    }
    return found;
}

bool token_check(struct token_book *book, int64_t now_ms, struct str bearer, struct token_who *out,
                 struct err *err)
{
    unsigned char hash[TOKEN_HASH];
    refresh(book, now_ms);
    hash_of(bearer, hash);
    const struct token *here = find(book->file.tokens, book->file.count, hash);
    const struct token *shared =
        book->shared == NULL ? NULL : find(book->shared->tokens, book->shared->count, hash);
    const struct token *found = here != NULL ? here : shared;
    if (found == NULL) {
        return err_set(err, ERR_DENIED, "this token is not known");
    }
    if (found->expires_ms != 0 && clock_now(book->clock).wall_ms >= found->expires_ms) {
        char expired[TIME_TEXT_LEN + 1];
        time_text(found->expires_ms, expired);
        return err_set(err, ERR_DENIED, "this token expired at %s", expired);
    }
    out->role = found->role;
    memcpy(out->id, found->id, sizeof out->id);
    memcpy(out->user, found->user, sizeof out->user);
    return true;
}
