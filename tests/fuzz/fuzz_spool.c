/* tests/fuzz/fuzz_spool.c: whatever lies on the disk, a spool is refused or goes on.
 *
 * What was found whole is read once and dropped; a record added behind it is found again.
 *
 * SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <unistd.h>

#include "fuzz.h"
#include "remote/spool.h"

#define RECORDS_MAX 64

static void check_spool(struct spool *spool, struct arena *arena)
{
    struct str found[RECORDS_MAX];
    struct err err = ERR_INIT;
    size_t count;
    FUZZ_CLAIM(spool_add(spool, STR("{\"last\":true}"), &err));
    do {
        count = spool_look(spool, RECORDS_MAX, MIB, arena, found);
        FUZZ_CLAIM(count > 0);
        FUZZ_CLAIM(spool_drop(spool, found, count, &err));
    } while (!spool_empty(spool));
    FUZZ_CLAIM(str_is(found[count - 1], "{\"last\":true}"));
}

void fuzz_one(struct str text)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct spool *spool = NULL;
    char folder[64], path[128], refused[256];
    /* In memory if there is such a place: what is searched is the reader, not the disk. */
    snprintf(folder, sizeof folder, "%s/errand-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    FUZZ_CLAIM(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/spool", folder);
    snprintf(refused, sizeof refused, "%s.refused", path);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    FUZZ_CLAIM(fd >= 0 && write(fd, text.ptr, text.len) == (ssize_t)text.len && close(fd) == 0);
    if (spool_open(path, 16 * MIB, &spool, &err)) {
        check_spool(spool, &arena);
    } else {
        FUZZ_CLAIM(err.kind == ERR_INVALID && err.text[0] != '\0');
    }
    spool_close(spool);
    unlink(path);
    unlink(refused);
    FUZZ_CLAIM(rmdir(folder) == 0);
}
