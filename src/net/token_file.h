/* net/token_file.h: the file `tokens`, read whole and replaced whole.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_TOKEN_FILE_H
#define ERRAND_NET_TOKEN_FILE_H

#include <sys/types.h>

#include "base/buf.h"
#include "net/token.h"

/* What changes when the file is replaced; all 0: there is no file. */
struct token_stamp {
    dev_t device;
    ino_t inode;
    off_t size;
    int64_t changed_ns;
};

struct token_file {
    struct token *tokens;
    size_t count, room;
    struct token_stamp stamp;
};

#define TOKEN_FILE_INIT ((struct token_file){0})

void token_file_fini(struct token_file *file);
void token_file_add(struct token_file *file, const struct token *token);

/* One token as a line, without its end. */
void token_line_write(struct buf *out, const struct token *token);
MUST_CHECK bool token_line_parse(struct str line, struct token *out);

struct token_stamp token_file_stamp(const char *folder);
bool token_stamp_eq(struct token_stamp a, struct token_stamp b);

/* A missing file has no tokens. `file` must be empty. */
MUST_CHECK bool token_file_read(const char *folder, struct token_file *file, struct err *err);

/* Replaces the file so that a crash leaves the old one or the new one. Hold the lock. */
MUST_CHECK bool token_file_write(const char *folder, const struct token_file *file,
                                 struct err *err);

/* One writer at a time. The lock has a file of its own, for `tokens` itself is replaced. */
MUST_CHECK bool token_lock(const char *folder, int *out, struct err *err);
void token_lock_fini(int *lock); /* for SCOPED; -1 is welcome */

#endif
