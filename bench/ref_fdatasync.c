/* bench/ref_fdatasync.c: F, the disk's own limit: overwrites of 4 KiB, each forced to the disk.
 *
 *     ref_fdatasync DIR SECONDS        prints {"fdatasyncPerSecond": …}
 *
 * SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"

#define BLOCK  4096
#define BLOCKS 256 /* 1 MiB, written once before the clock starts: overwrites allocate nothing */

static int open_file(const char *dir)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/fdatasync-XXXXXX", dir);
    int fd = mkstemp(path);
    if (fd < 0) {
        perror(path);
        exit(1);
    }
    unlink(path);
    return fd;
}

static void write_block(int fd, long number)
{
    static const char block[BLOCK];
    if (pwrite(fd, block, BLOCK, number % BLOCKS * BLOCK) != BLOCK) {
        perror("write");
        exit(1);
    }
}

static void force(int fd)
{
    if (fdatasync(fd) != 0) {
        perror("fdatasync");
        exit(1);
    }
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "Usage: ref_fdatasync DIR SECONDS\n");
        return 2;
    }
    int fd = open_file(argv[1]);
    for (long i = 0; i < BLOCKS; i++) {
        write_block(fd, i);
    }
    force(fd);
    int64_t start = clock_real_mono_us(), end = start + (int64_t)(atof(argv[2]) * 1e6), now = start;
    long n = 0;
    for (; now < end; now = clock_real_mono_us()) {
        write_block(fd, n++);
        force(fd);
    }
    printf("{\"fdatasyncPerSecond\": %.0f}\n", (double)n / (double)(now - start) * 1e6);
    return 0;
}
