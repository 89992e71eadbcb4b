/* tests/conformance/store_sqlite.c: the store suite on SQLite.
 *
 * SPDX-License-Identifier: MIT */
#include "store_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "store_sqlite.h"

struct place *place_new(void)
{
    struct place *place = mem_new(struct place);
    snprintf(place->folder, sizeof place->folder, "/tmp/errand-store-XXXXXX");
    CHECK(mkdtemp(place->folder) != NULL);
    snprintf(place->file, sizeof place->file, "%s/errand.db", place->folder);
    return place;
}

bool place_try_open(struct place *place, const struct store_options *like, struct store **out,
                    struct err *err)
{
    char url[80];
    snprintf(url, sizeof url, "sqlite:%s", place->file);
    struct store_options options = *like;
    options.url = str_of(url);
    return store_open(&options, out, err);
}

struct store *place_open(struct place *place)
{
    struct err err = ERR_INIT;
    struct store *store = NULL;
    CHECK_OK(place_try_open(place, &(struct store_options){0}, &store, &err));
    return store;
}

void place_free(struct place *place)
{
    static const char *const names[] = {"errand.db", "errand.db-wal", "errand.db-shm",
                                        "errand.lock"};
    char path[96];
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        snprintf(path, sizeof path, "%s/%s", place->folder, names[i]);
        unlink(path);
    }
    CHECK_EQ(rmdir(place->folder), 0);
    mem_free(place);
}
