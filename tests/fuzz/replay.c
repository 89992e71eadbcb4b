/* tests/fuzz/replay.c: runs a target over every file of the folder given, and speaks TAP.
 *
 * Each text is also cut short at a few places, which costs nothing and is what readers fear most.
 * The bytes are copied to memory of exactly their size, so that reading past the end is noticed.
 *
 * SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "fuzz.h"

#define FILE_MAX MIB
#define CUTS     16

static void run_exact(const char *bytes, size_t len)
{
    char *copy = mem_alloc(len > 0 ? len : 1);
    if (len > 0) {
        memcpy(copy, bytes, len);
    }
    fuzz_one((struct str){copy, len});
    mem_free(copy);
}

static bool run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return false;
    }
    char *bytes = mem_alloc(FILE_MAX);
    size_t len = fread(bytes, 1, FILE_MAX, file);
    fclose(file);
    run_exact(bytes, len);
    for (size_t i = 0; i < CUTS; i++) {
        run_exact(bytes, len * i / CUTS);
    }
    mem_free(bytes);
    return true;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
    struct dirent **entries;
    int count = argc == 2 ? scandir(argv[1], &entries, is_visible, alphasort) : -1;
    if (count <= 0) {
        printf("Bail out! usage: %s FOLDER (with files in it)\n", argv[0]);
        return 1;
    }
    printf("1..%d\n", count);
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", argv[1], entries[i]->d_name);
        printf("%s %d - %s\n", run_file(path) ? "ok" : "not ok", i + 1, entries[i]->d_name);
        fflush(stdout);
        free(entries[i]);
    }
    free(entries);
    return 0;
}
