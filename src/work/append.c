/* work/append.c: the built-in document.append: read, pause, write.
 *
 * It does on purpose what careless programs do: it reads the whole file, waits a little and writes
 * it anew. Two at once on one file would lose a line, so it shows whether documents are really
 * exclusive. Tasks without a document share one file and do lose lines.
 *
 * Written as any run function is, through errand/handler.h.
 *
 * Thread: a claimer's.
 *
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wire/json.h"
#include "work/function.h"

#define APPEND_PAUSE_MS 5 /* long enough for another to come in between */
#define APPEND_FILE_MAX (16 * MIB)
#define NAME_PIECE      200     /* of a file name; longer names go down a folder for each piece */
#define NO_DOCUMENT     "+none" /* no document's file can be called so */

static bool is_safe(char c, bool first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || (c == '.' && !first);
}

/* Different documents have different files: what is not safe in a name is written %XX, and a folder
 * ends in +, which no file does. */
static void add_name(struct buf *path, struct str document)
{
    size_t piece = path->len;
    for (size_t i = 0; i < document.len; i++) {
        if (path->len - piece >= NAME_PIECE) {
            buf_c(path, "+");
            mkdir(buf_c_text(path), 0700);
            buf_char(path, '/');
            piece = path->len;
        }
        if (is_safe(document.ptr[i], path->len == piece)) {
            buf_char(path, document.ptr[i]);
        } else {
            buf_printf(path, "%%%02X", (unsigned char)document.ptr[i]);
        }
    }
}

static void find_path(const errand_task *task, struct buf *path)
{
    struct str document = str_of(errand_document_id(task));
    buf_str(path, ((const struct function *)task)->claimer->work->documents);
    mkdir(buf_c_text(path), 0700); /* it may be there; if not, opening the file says why */
    chmod(buf_c_text(path), 0700);
    buf_char(path, '/');
    if (str_absent(document)) {
        buf_c(path, NO_DOCUMENT);
    } else {
        add_name(path, document);
    }
}

static bool read_all(const char *path, struct buf *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        return errno == ENOENT;
    }
    for (;;) {
        char *room = buf_room(out, 64 * KIB);
        ssize_t n = room == NULL ? 0 : read(fd, room, 64 * KIB);
        if (n <= 0) {
            close(fd);
            return n == 0 && !out->full;
        }
        buf_used(out, (size_t)n);
    }
}

/* The new file takes the place of the old one at once: a crash leaves one or the other. */
static bool write_all(const char *path, const char *id, struct str text)
{
    SCOPED(buf_fini) struct buf fresh = BUF_INIT(64 * KIB);
    buf_printf(&fresh, "%s+%s", path, id);
    int fd = open(buf_c_text(&fresh), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        return false;
    }
    bool ok = true;
    for (ssize_t n; ok && text.len > 0; text = str_from(text, (size_t)MAX(n, 0))) {
        n = write(fd, text.ptr, text.len);
        ok = n >= 0;
    }
    ok = close(fd) == 0 && ok && rename(buf_c_text(&fresh), path) == 0;
    if (!ok) {
        unlink(buf_c_text(&fresh));
    }
    return ok;
}

static int append(errand_task *task, struct str text)
{
    SCOPED(buf_fini) struct buf path = BUF_INIT(64 * KIB), file = BUF_INIT(APPEND_FILE_MAX);
    char result[64];
    find_path(task, &path);
    if (!read_all(buf_c_text(&path), &file) && !file.full) {
        return errand_fail(task, "read_failed", strerror(errno), 1);
    }
    struct pollfd abort = {.fd = errand_abort_fd(task), .events = POLLIN};
    poll(&abort, 1, APPEND_PAUSE_MS);
    if (errand_aborted(task)) {
        return -1;
    }
    buf_str(&file, text);
    if (!str_ends(text, STR("\n"))) {
        buf_char(&file, '\n');
    }
    if (file.full) {
        return errand_fail(task, "document_full", "the document's file is over 16 MiB", 0);
    }
    if (!write_all(buf_c_text(&path), errand_task_id(task), buf_view(&file))) {
        return errand_fail(task, "write_failed", strerror(errno), 1);
    }
    int len = snprintf(result, sizeof result, "{\"bytes\":%zu}", file.len);
    return errand_result(task, result, (size_t)len);
}

int function_append(errand_task *task)
{
    struct arena arena = ARENA_INIT;
    size_t length;
    const char *payload = errand_payload(task, &length);
    struct str text = json_find_str((struct str){payload, length}, "text", &arena);
    int answer = str_absent(text) ? errand_fail(task, "invalid_payload",
                                                "document.append needs {\"text\":\"…\"}", 0)
                                  : append(task, text);
    arena_fini(&arena);
    return answer;
}
