/* store/backup.h: a data folder in one file, and back.
 *
 * A backup is the database itself, copied in one read transaction beside whoever writes, with the
 * other files of the folder (tokens, documents) in a table of their own. The database comes first:
 * a file may then know more than the database does, and what is done twice is not lost.
 *
 * The result appears whole or not at all: it is written beside its place and moved there last.
 *
 * Thread: any; nothing is kept.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_STORE_BACKUP_H
#define ERRAND_STORE_BACKUP_H

#include "base/err.h"
#include "base/str.h"

#define BACKUP_DATABASE "errand.db" /* its usual name in the folder */

struct backup_told { /* for people */
    int64_t bytes;
    size_t files; /* besides the database */
};

/* Copies the database and those of `names` (files and folders of `folder`; NULL ends them) that are
 * there into `to`, which must not be there yet; it is its owner's alone. */
MUST_CHECK bool backup_write(const char *database, const char *folder, const char *const *names,
                             const char *to, struct backup_told *told, struct err *err);

/* Puts a backup into a folder, which is made if it is not there and must be empty. */
MUST_CHECK bool backup_restore(const char *from, const char *folder, struct backup_told *told,
                               struct err *err);

/* Whether a file is a backup at all; what it holds is for store_check() to judge. */
MUST_CHECK bool backup_look(const char *path, struct backup_told *told, struct err *err);

#endif
