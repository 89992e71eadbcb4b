/* net/token_file.c: reads and replaces the file `tokens`. See token_file.h, and token.h for its
 * format.
 *
 * SPDX-License-Identifier: MIT */
#include "net/token_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/log.h"
#include "wire/time.h"

#define LINE_MAX_BYTES (TOKEN_ID_TEXT + 2 * TOKEN_HASH + TOKEN_USER_MAX + TOKEN_NAME_MAX + 128)
#define FILE_MAX_BYTES ((size_t)TOKENS_MAX * LINE_MAX_BYTES)
#define OWNER_ONLY     0600
#define OTHERS         0077

static void fd_fini(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
    }
}

static const char *path_in(const char *folder, const char *name, char out[static PATH_MAX])
{
    snprintf(out, PATH_MAX, "%s/%s", folder, name);
    return out;
}

static bool fails(struct err *err, const char *verb, const char *path)
{
    return err_set(err, ERR_UNAVAILABLE, "%s %s: %s", verb, path, strerror(errno));
}

void token_file_fini(struct token_file *file)
{
    mem_free(file->tokens);
    *file = TOKEN_FILE_INIT;
}

void token_file_add(struct token_file *file, const struct token *token)
{
    *ARRAY_PUSH(file->tokens, file->count, file->room) = *token;
}

/* ---- Whether it changed ---- */

static struct token_stamp stamp_of(const struct stat *st)
{
    int64_t changed_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
    return (struct token_stamp){st->st_dev, st->st_ino, st->st_size, changed_ns};
}

struct token_stamp token_file_stamp(const char *folder)
{
    char path[PATH_MAX];
    struct stat st;
    return stat(path_in(folder, "tokens", path), &st) == 0 ? stamp_of(&st)
                                                           : (struct token_stamp){0};
}

bool token_stamp_eq(struct token_stamp a, struct token_stamp b)
{
    return a.device == b.device && a.inode == b.inode && a.size == b.size &&
           a.changed_ns == b.changed_ns;
}

/* ---- Reading ---- */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool hash_parse(struct str text, unsigned char out[static TOKEN_HASH])
{
    if (text.len != 2 * TOKEN_HASH) {
        return false;
    }
    for (size_t i = 0; i < TOKEN_HASH; i++) {
        int high = hex_digit(text.ptr[2 * i]), low = hex_digit(text.ptr[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        out[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

bool token_line_parse(struct str line, struct token *out)
{
    struct str id = str_cut(&line, '\t'), hash = str_cut(&line, '\t'), role = str_cut(&line, '\t');
    struct str user = str_cut(&line, '\t'), created = str_cut(&line, '\t');
    struct str name = str_absent(line) ? STR("") : str_cut(&line, '\t');
    struct str expires = str_absent(line) ? STR("") : str_cut(&line, '\t');
    *out = (struct token){0};
    /* A NUL would end a name early: what is left of a user may be another, or everybody. */
    if (id.len == 0 || id.len >= TOKEN_ID_TEXT || user.len > TOKEN_USER_MAX ||
        name.len > TOKEN_NAME_MAX || !str_absent(line) || str_has_control(id) ||
        str_has_control(user) || str_has_control(name) || !hash_parse(hash, out->hash) ||
        !role_parse(role, &out->role) || !time_parse(created, &out->created_ms, NULL) ||
        (expires.len > 0 && !time_parse(expires, &out->expires_ms, NULL))) {
        return false;
    }
    memcpy(out->id, id.ptr, id.len);
    memcpy(out->user, user.len > 0 ? user.ptr : "", user.len);
    memcpy(out->name, name.len > 0 ? name.ptr : "", name.len);
    return true;
}

static bool lines_parse(struct str text, struct token_file *file, struct err *err)
{
    for (size_t number = 1; !str_absent(text); number++) {
        struct str line = str_cut(&text, '\n');
        struct token token;
        if (line.len == 0 || line.ptr[0] == '#') {
            continue;
        }
        if (file->count == TOKENS_MAX || !token_line_parse(line, &token)) {
            return err_set(err, ERR_INVALID, "line %zu of the file tokens is not a token", number);
        }
        token_file_add(file, &token);
    }
    return true;
}

static bool read_all(int fd, struct buf *out, struct err *err)
{
    for (;;) {
        char *room = buf_room(out, 4 * KIB);
        if (room == NULL) {
            return err_set(err, ERR_INVALID, "the file tokens is too large");
        }
        ssize_t len = read(fd, room, 4 * KIB);
        if (len <= 0) {
            return len == 0 || fails(err, "read", "tokens");
        }
        buf_used(out, (size_t)len);
    }
}

bool token_file_read(const char *folder, struct token_file *file, struct err *err)
{
    char path[PATH_MAX];
    SCOPED(fd_fini) int fd = open(path_in(folder, "tokens", path), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return errno == ENOENT || fails(err, "open", path);
    }
    struct stat st;
    SCOPED(buf_fini) struct buf text = BUF_INIT(FILE_MAX_BYTES + 4 * KIB);
    if (fstat(fd, &st) != 0) {
        return fails(err, "stat", path);
    }
    file->stamp = stamp_of(&st);
    if ((st.st_mode & OTHERS) != 0 && fchmod(fd, OWNER_ONLY) == 0) { /* its time stays the same */
        log_warn("%s had the mode %04o: now it is its owner's alone", path,
                 (unsigned)st.st_mode & 07777);
    }
    return read_all(fd, &text, err) && lines_parse(buf_view(&text), file, err);
}

/* ---- Writing ---- */

void token_line_write(struct buf *out, const struct token *token)
{
    buf_c(out, token->id);
    buf_char(out, '\t');
    for (size_t i = 0; i < TOKEN_HASH; i++) {
        buf_char(out, "0123456789abcdef"[token->hash[i] >> 4]);
        buf_char(out, "0123456789abcdef"[token->hash[i] & 15]);
    }
    buf_char(out, '\t');
    buf_c(out, role_name(token->role));
    buf_char(out, '\t');
    buf_c(out, token->user);
    buf_char(out, '\t');
    time_write(out, token->created_ms);
    if (token->name[0] != '\0' || token->expires_ms != 0) {
        buf_char(out, '\t');
        buf_c(out, token->name);
        buf_char(out, '\t');
    }
    if (token->expires_ms != 0) {
        time_write(out, token->expires_ms);
    }
}

static bool write_all(int fd, struct str text)
{
    while (text.len > 0) {
        ssize_t len = write(fd, text.ptr, text.len);
        if (len < 0) {
            return false;
        }
        text = str_from(text, (size_t)len);
    }
    return true;
}

static bool write_file(const char *path, struct str text, struct err *err)
{
    int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
    SCOPED(fd_fini) int fd = open(path, flags, OWNER_ONLY);
    if (fd < 0) {
        return fails(err, "create", path);
    }
    /* An older file of that name may have had another mode. */
    return (fchmod(fd, OWNER_ONLY) == 0 && write_all(fd, text) && fsync(fd) == 0) ||
           fails(err, "write", path);
}

static bool sync_folder(const char *folder, struct err *err)
{
    SCOPED(fd_fini) int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return (fd >= 0 && fsync(fd) == 0) || fails(err, "sync", folder);
}

bool token_file_write(const char *folder, const struct token_file *file, struct err *err)
{
    char path[PATH_MAX], fresh[PATH_MAX];
    SCOPED(buf_fini) struct buf text = BUF_INIT(FILE_MAX_BYTES);
    for (size_t i = 0; i < file->count; i++) {
        token_line_write(&text, &file->tokens[i]);
        buf_char(&text, '\n');
    }
    path_in(folder, "tokens", path);
    path_in(folder, "tokens.new", fresh);
    return write_file(fresh, buf_view(&text), err) &&
           (rename(fresh, path) == 0 || fails(err, "replace", path)) && sync_folder(folder, err);
}

/* ---- The lock ---- */

bool token_lock(const char *folder, int *out, struct err *err)
{
    char path[PATH_MAX];
    path_in(folder, "tokens.lock", path);
    if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
        return fails(err, "create", folder);
    }
    *out = open(path, O_RDWR | O_CREAT | O_CLOEXEC, OWNER_ONLY);
    return (*out >= 0 && flock(*out, LOCK_EX) == 0) || fails(err, "lock", path);
}

void token_lock_fini(int *lock)
{
    fd_fini(lock);
}
