/* cli/move_files.c: the files beside a store that move along. See move_files.h.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/move_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "net/token_file.h"

#define OWNER_ONLY   0600
#define OWNER_FOLDER 0700
#define PIECE        (64 * KIB)

static bool fails(struct err *err, const char *doing, const char *path)
{
    return err_set(err, ERR_UNAVAILABLE, "cannot %s %s: %s", doing, path, strerror(errno));
}

static void fd_fini(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
    }
}

/* Two files in step; *same until they differ. With `writes`, what is read is written instead. */
static bool walk_both(int from, int to, bool writes, bool *same)
{
    char a[PIECE], b[PIECE];
    *same = true;
    for (off_t at = 0; *same;) {
        ssize_t got = pread(from, a, sizeof a, at);
        if (got < 0) {
            return false;
        }
        ssize_t other = writes ? pwrite(to, a, (size_t)got, at) : pread(to, b, sizeof b, at);
        if (other < 0 || (writes && other != got)) {
            return false;
        }
        *same = writes || (other == got && memcmp(a, b, (size_t)got) == 0);
        if (got == 0) {
            return true;
        }
        at += got;
    }
    return true;
}

static bool copy_new(int from, const char *to, struct err *err)
{
    char part[PATH_MAX + 8];
    bool same;
    snprintf(part, sizeof part, "%s.part", to);
    SCOPED(fd_fini) int out = open(part, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, OWNER_ONLY);
    return (out >= 0 && walk_both(from, out, true, &same) && fsync(out) == 0 &&
            rename(part, to) == 0) ||
           fails(err, "write", to);
}

static bool copy_file(const char *path, const char *to, bool only_look, struct err *err)
{
    SCOPED(fd_fini) int from = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    SCOPED(fd_fini) int there = open(to, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool same = false;
    if (from < 0) {
        return fails(err, "read", path);
    }
    if (there < 0) {
        return only_look || copy_new(from, to, err);
    }
    return (walk_both(from, there, false, &same) || fails(err, "read", to)) &&
           (same || err_set(err, ERR_CONFLICT, "%s is there already and is another file than %s",
                            to, path));
}

static bool copy_entry(const char *path, const char *to, bool only_look, int64_t *count,
                       struct err *err)
{
    struct stat st;
    if (lstat(path, &st) != 0) {
        return fails(err, "read", path);
    }
    if (S_ISDIR(st.st_mode)) {
        return files_copy(path, to, only_look, count, err);
    }
    *count += S_ISREG(st.st_mode);
    return !S_ISREG(st.st_mode) || copy_file(path, to, only_look, err);
}

bool files_copy(const char *from, const char *to, bool only_look, int64_t *count, struct err *err)
{
    DIR *folder = opendir(from);
    if (folder == NULL) {
        return errno == ENOENT || fails(err, "read", from);
    }
    bool ok =
        only_look || mkdir(to, OWNER_FOLDER) == 0 || errno == EEXIST || fails(err, "make", to);
    for (struct dirent *entry; ok && (entry = readdir(folder)) != NULL;) {
        char source[PATH_MAX], target[PATH_MAX];
        int a = snprintf(source, sizeof source, "%s/%s", from, entry->d_name);
        int b = snprintf(target, sizeof target, "%s/%s", to, entry->d_name);
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        ok = (a < PATH_MAX && b < PATH_MAX) ||
             err_set(err, ERR_INVALID, "%s/%s: its path is too long", to, entry->d_name);
        ok = ok && copy_entry(source, target, only_look, count, err);
    }
    closedir(folder);
    if (!ok || only_look) {
        return ok;
    }
    SCOPED(fd_fini) int made = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return (made >= 0 && fsync(made) == 0) || fails(err, "sync", to);
}

/* ---- Tokens ---- */

bool files_tokens_read(const char *folder, struct arena *arena, struct steward_token **out,
                       size_t *count, struct err *err)
{
    SCOPED(token_file_fini) struct token_file file = TOKEN_FILE_INIT;
    if (!token_file_read(folder, &file, err)) {
        return false;
    }
    *out = arena_array(arena, struct steward_token, file.count);
    *count = file.count;
    for (size_t i = 0; i < file.count; i++) {
        SCOPED(buf_fini) struct buf line = BUF_INIT(4 * KIB);
        token_line_write(&line, &file.tokens[i]);
        (*out)[i] = (struct steward_token){.id = arena_str(arena, str_of(file.tokens[i].id)),
                                           .line = arena_str(arena, buf_view(&line))};
    }
    return true;
}

static bool same_tokens(const struct token_file *a, const struct token_file *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++) {
        same = memcmp(a->tokens[i].hash, b->tokens[i].hash, TOKEN_HASH) == 0;
    }
    return same;
}

bool files_tokens_write(const char *folder, const struct steward_token *tokens, size_t count,
                        bool only_look, struct err *err)
{
    SCOPED(token_file_fini) struct token_file file = TOKEN_FILE_INIT;
    SCOPED(token_file_fini) struct token_file there = TOKEN_FILE_INIT;
    SCOPED(token_lock_fini) int lock = -1;
    for (size_t i = 0; i < count; i++) {
        struct token token;
        if (!token_line_parse(tokens[i].line, &token)) {
            return err_set(err, ERR_INVALID,
                           "the token " STR_FMT " is of a kind that this errand does not know: "
                           "use a newer errand",
                           STR_ARG(tokens[i].id));
        }
        token_file_add(&file, &token);
    }
    if (!token_file_read(folder, &there, err)) {
        return false;
    }
    if (there.count > 0) {
        return same_tokens(&file, &there) ||
               err_set(err, ERR_CONFLICT, "the target has tokens already: move into a new folder");
    }
    return only_look || count == 0 ||
           (token_lock(folder, &lock, err) && token_file_write(folder, &file, err));
}
