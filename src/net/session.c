/* net/session.c: seals, opens and ends sessions. See session.h.
 *
 * SPDX-License-Identifier: MIT */
#include "net/session.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <pthread.h>

#include "base/mem.h"
#include "net/guess.h"
#include "wire/base64.h"

#define KEY_LABEL "errand_session 1" /* so that the key is good for nothing else */
#define KEY_BYTES 32
#define TAG_BYTES 16
#define TEXT_LEN  (TOKEN_TEXT - 1)
#define ID_LEN    (TOKEN_ID_TEXT - 1)

struct content { /* what is sealed */
    int64_t began_ms, ends_ms;
    char token[TEXT_LEN];
};
_Static_assert(sizeof(struct content) >= 16 + TEXT_LEN, "both times and the token");

struct sealed { /* what the base64 of a cookie holds */
    unsigned char nonce[SESSION_NONCE];
    unsigned char content[sizeof(struct content)];
    unsigned char tag[TAG_BYTES];
};

struct over { /* signed out */
    unsigned char nonce[SESSION_NONCE];
    int64_t began_ms, ends_ms;
};

struct sessions {
    const struct clock *clock;
    pthread_mutex_t lock; /* guards everything below */
    struct rand rand;
    struct guess guess;
    int64_t since_ms; /* sessions that began before may have been signed out unknown to us */
    struct over *over;
    size_t over_count;
};

struct sessions *sessions_new(const struct clock *clock)
{
    struct sessions *sessions = mem_new(struct sessions);
    sessions->clock = clock;
    pthread_mutex_init(&sessions->lock, NULL);
    rand_init(&sessions->rand);
    sessions->since_ms = clock_true_ms(clock);
    sessions->over = mem_array(NULL, SESSION_OVER_MAX, sizeof *sessions->over);
    return sessions;
}

void sessions_free(struct sessions *sessions)
{
    if (sessions != NULL) {
        pthread_mutex_destroy(&sessions->lock);
        mem_free(sessions->over);
        mem_free(sessions);
    }
}

/* ---- Sealing ---- */

static void key_of(const struct token *token, unsigned char out[static KEY_BYTES])
{
    unsigned char from[sizeof KEY_LABEL + TOKEN_HASH];
    memcpy(from, KEY_LABEL, sizeof KEY_LABEL);
    memcpy(from + sizeof KEY_LABEL, token->hash, TOKEN_HASH);
    SHA256(from, sizeof from, out);
}

static void free_cipher(EVP_CIPHER_CTX **cipher)
{
    EVP_CIPHER_CTX_free(*cipher);
}

static bool seal(const struct token *token, const struct content *content, struct sealed *out)
{
    SCOPED(free_cipher) EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    unsigned char key[KEY_BYTES];
    int len = 0;
    key_of(token, key);
    return cipher != NULL &&
           EVP_EncryptInit_ex(cipher, EVP_aes_256_gcm(), NULL, key, out->nonce) == 1 &&
           EVP_EncryptUpdate(cipher, NULL, &len, (const unsigned char *)token->id, ID_LEN) == 1 &&
           EVP_EncryptUpdate(cipher, out->content, &len, (const unsigned char *)content,
                             sizeof *content) == 1 &&
           EVP_EncryptFinal_ex(cipher, out->tag, &len) == 1 &&
           EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_GET_TAG, TAG_BYTES, out->tag) == 1;
}

static bool unseal(const struct token *token, struct sealed *sealed, struct content *out)
{
    SCOPED(free_cipher) EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    unsigned char key[KEY_BYTES], rest[TAG_BYTES];
    int len = 0;
    key_of(token, key);
    return cipher != NULL &&
           EVP_DecryptInit_ex(cipher, EVP_aes_256_gcm(), NULL, key, sealed->nonce) == 1 &&
           EVP_DecryptUpdate(cipher, NULL, &len, (const unsigned char *)token->id, ID_LEN) == 1 &&
           EVP_DecryptUpdate(cipher, (unsigned char *)out, &len, sealed->content,
                             sizeof sealed->content) == 1 &&
           EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_SET_TAG, TAG_BYTES, sealed->tag) == 1 &&
           EVP_DecryptFinal_ex(cipher, rest, &len) == 1;
}

/* ---- Beginning ---- */

bool session_begin(struct sessions *sessions, struct token_book *book, int64_t loop_ms,
                   struct str token, struct arena *arena, struct str *out)
{
    struct token_who who;
    struct token found;
    struct err err = ERR_INIT;
    struct content content = {.began_ms = clock_true_ms(sessions->clock),
                              .ends_ms = clock_now(sessions->clock).wall_ms + SESSION_MS};
    struct sealed sealed;
    if (token.len != TEXT_LEN || !token_check(book, loop_ms, token, &who, &err) ||
        !token_book_find(book, loop_ms, str_of(who.id), &found)) {
        return false;
    }
    memcpy(content.token, token.ptr, TEXT_LEN);
    pthread_mutex_lock(&sessions->lock);
    rand_bytes(&sessions->rand, sealed.nonce, SESSION_NONCE);
    pthread_mutex_unlock(&sessions->lock);
    bool is_sealed = seal(&found, &content, &sealed);
    OPENSSL_cleanse(&content, sizeof content);
    if (is_sealed) {
        SCOPED(buf_fini) struct buf text = BUF_INIT(SESSION_COOKIE_MAX);
        buf_c(&text, found.id);
        buf_char(&text, '.');
        base64_write(&text, (struct str){(char *)&sealed, sizeof sealed});
        *out = arena_str(arena, buf_view(&text));
    }
    return is_sealed;
}

/* ---- Checking ---- */

static bool is_over(struct sessions *sessions, const struct session *session)
{
    bool over = session->began_ms < sessions->since_ms;
    for (size_t i = 0; i < sessions->over_count; i++) {
        over = over || memcmp(sessions->over[i].nonce, session->nonce, SESSION_NONCE) == 0;
    }
    return over;
}

bool session_check(struct sessions *sessions, struct token_book *book, int64_t loop_ms,
                   struct str cookie, struct session *out)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct token token;
    struct str bytes, id = cookie.len > SESSION_COOKIE_MAX ? STR_NONE : str_cut(&cookie, '.');
    struct content content = {0};
    struct sealed sealed;
    if (str_absent(id) || str_absent(cookie) || !base64_decode(cookie, &arena, &bytes, &err) ||
        bytes.len != sizeof sealed || !token_book_find(book, loop_ms, id, &token)) {
        return false;
    }
    memcpy(&sealed, bytes.ptr, sizeof sealed);
    struct session found = {.began_ms = 0};
    bool opened =
        unseal(&token, &sealed, &content) &&
        token_check(book, loop_ms, (struct str){content.token, TEXT_LEN}, &found.who, &err);
    found.began_ms = content.began_ms;
    found.ends_ms = content.ends_ms;
    memcpy(found.nonce, sealed.nonce, SESSION_NONCE);
    OPENSSL_cleanse(&content, sizeof content);
    if (!opened || clock_now(sessions->clock).wall_ms >= found.ends_ms) {
        return false;
    }
    pthread_mutex_lock(&sessions->lock);
    bool over = is_over(sessions, &found);
    pthread_mutex_unlock(&sessions->lock);
    *out = found;
    return !over;
}

/* ---- Ending ---- */

/* Forgets those whose time has come anyway. Where there are still too many, half of them are
 * replaced by a rule: nothing that began before the youngest of these is taken any more. */
static void make_room(struct sessions *sessions, int64_t now_ms)
{
    size_t kept = 0;
    for (size_t i = 0; i < sessions->over_count; i++) {
        if (sessions->over[i].ends_ms > now_ms) {
            sessions->over[kept++] = sessions->over[i];
        }
    }
    sessions->over_count = kept;
    if (kept < SESSION_OVER_MAX) {
        return;
    }
    size_t half = kept / 2;
    for (size_t i = 0; i < half; i++) {
        sessions->since_ms = MAX(sessions->since_ms, sessions->over[i].began_ms + 1);
    }
    memmove(sessions->over, sessions->over + half, (kept - half) * sizeof *sessions->over);
    sessions->over_count = kept - half;
}

void session_end(struct sessions *sessions, const struct session *session)
{
    struct over over = {.began_ms = session->began_ms, .ends_ms = session->ends_ms};
    memcpy(over.nonce, session->nonce, SESSION_NONCE);
    pthread_mutex_lock(&sessions->lock);
    if (sessions->over_count == SESSION_OVER_MAX) {
        make_room(sessions, clock_now(sessions->clock).wall_ms);
    }
    sessions->over[sessions->over_count++] = over;
    pthread_mutex_unlock(&sessions->lock);
}

void session_write_end(struct buf *out, const struct session *session)
{
    for (size_t i = 0; i < SESSION_NONCE; i++) {
        buf_printf(out, "%02x", session->nonce[i]);
    }
    buf_printf(out, " %lld %lld", (long long)session->began_ms, (long long)session->ends_ms);
}

bool session_read_end(struct str text, struct session *out)
{
    struct str nonce = str_cut(&text, ' '), began = str_absent(text) ? text : str_cut(&text, ' ');
    *out = (struct session){.began_ms = 0};
    if (nonce.len != 2 * SESSION_NONCE || str_absent(text) || !str_i64(began, &out->began_ms) ||
        !str_i64(text, &out->ends_ms)) {
        return false;
    }
    for (size_t i = 0; i < SESSION_NONCE; i++) {
        int high = str_hex(nonce.ptr[2 * i]), low = str_hex(nonce.ptr[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        out->nonce[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

/* ---- Guessing ---- */

int64_t session_guess_wait_ms(struct sessions *sessions, uint64_t peer, int64_t loop_ms)
{
    pthread_mutex_lock(&sessions->lock);
    int64_t wait_ms = guess_wait_ms(&sessions->guess, peer, loop_ms);
    pthread_mutex_unlock(&sessions->lock);
    return wait_ms;
}

void session_guessed(struct sessions *sessions, uint64_t peer, bool right, int64_t loop_ms)
{
    pthread_mutex_lock(&sessions->lock);
    if (right) {
        guess_right(&sessions->guess, peer);
    } else {
        guess_wrong(&sessions->guess, peer, loop_ms);
    }
    pthread_mutex_unlock(&sessions->lock);
}
