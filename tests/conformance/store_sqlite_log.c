/* tests/conformance/store_sqlite_log.c: how commits reach SQLite's log.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "store_sqlite.h"
#include "store_suite.h"

/* System calls of this process that wrote something, so far. */
static long long writes_so_far(void)
{
    char line[64];
    long long writes = -1;
    FILE *io = fopen("/proc/self/io", "r");
    CHECK(io != NULL);
    while (fgets(line, sizeof line, io) != NULL) {
        if (sscanf(line, "syscw: %lld", &writes) == 1) {
            break;
        }
    }
    fclose(io);
    return writes;
}

TEST(a_commit_of_many_pages_is_one_write_to_the_log)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    struct task tasks[60];
    const struct task *all[60];
    for (size_t i = 0; i < ARRAY_LEN(tasks); i++) {
        tasks[i] = bench_task(&b);
        tasks[i].payload = STR("\"some bytes, so that it does not fit on one page\"");
        all[i] = &tasks[i];
    }
    bench_insert(&b, &tasks[0]); /* the log has its header */
    SCOPED(tx_close) struct tx *tx = NULL;
    CHECK_OK(store_begin(b.store, &tx, &err));
    CHECK_OK(tx_insert(tx, all + 1, ARRAY_LEN(tasks) - 1, &err));
    long long before = writes_so_far();
    CHECK_OK(tx_commit(&tx, &err));
    CHECK_EQ(writes_so_far() - before, 1);
    CHECK_EQ(place_ask(b.place, "SELECT count(*) FROM body"), ARRAY_LEN(tasks)); /* whoever reads */
}
