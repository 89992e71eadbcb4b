/* bench/ref_store.c: what the store does by itself, without engine, broker and network.
 *
 *     ref_store URL TASKS BATCH [PROCESS]    prints creates and drains a second
 *
 * One store, one transaction a step, as the engine uses it: insert a batch, load it and start it,
 * end what is held. With the number of PostgreSQL's first process it also prints what CPU the
 * server spent on one life, in microseconds: a design is judged by that, not by a noisy clock.
 *
 * SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/rand.h"
#include "store/store.h"
#include "task/life.h"

#define PAYLOAD_BYTES 200
#define LEASE_MS      30000

struct pace {
    struct store *store;
    struct rand rand;
    struct id_maker ids;
    struct arena arena;
    struct task *tasks;
    size_t count, batch;
};

static void must(bool ok, const struct err *err)
{
    if (!ok) {
        fprintf(stderr, "ref_store: %s\n", err->text);
        exit(1);
    }
}

static int64_t now_ms(void)
{
    return clock_real_mono_us() / 1000 + INT64_C(1800000000000);
}

static void order_all(struct pace *pace)
{
    char *payload = arena_alloc(&pace->arena, PAYLOAD_BYTES);
    memset(payload, '7', PAYLOAD_BYTES);
    for (size_t i = 0; i < pace->count; i++) {
        pace->tasks[i] = (struct task){.id = id_make(&pace->ids, now_ms()),
                                       .type = STR("bench"),
                                       .queue = STR("bench"),
                                       .payload = {payload, PAYLOAD_BYTES},
                                       .priority = TASK_NORMAL,
                                       .max_retries = TASK_MAX_RETRIES_DEFAULT,
                                       .timeout_ms = TASK_TIMEOUT_DEFAULT_MS,
                                       .backoff = TASK_BACKOFF_DEFAULT,
                                       .cost = TASK_COST_NONE,
                                       .progress = -1};
        task_begin(&pace->tasks[i], now_ms());
    }
}

static void create(struct pace *pace, size_t from, size_t n)
{
    const struct task **orders = mem_array(NULL, n, sizeof *orders);
    struct err err = ERR_INIT;
    struct tx *tx = NULL;
    for (size_t i = 0; i < n; i++) {
        orders[i] = &pace->tasks[from + i];
    }
    must(store_begin(pace->store, &tx, &err), &err);
    must(tx_insert(tx, orders, n, &err), &err);
    must(tx_commit(&tx, &err), &err);
    mem_free(orders);
}

static void save(struct pace *pace, struct tx *tx, size_t from, size_t n, const struct task *was,
                 bool ended)
{
    struct task_change *changes = mem_array(NULL, n, sizeof *changes);
    struct err err = ERR_INIT;
    for (size_t i = 0; i < n; i++) {
        changes[i] =
            (struct task_change){.was = &was[i], .now = &pace->tasks[from + i], .ended = ended};
    }
    must(tx_save(tx, changes, n, &err), &err);
    must(tx_commit(&tx, &err), &err);
    for (size_t i = 0; i < n; i++) {
        must(changes[i].applied, &(struct err){.text = "a change was not applied"});
    }
    mem_free(changes);
}

static void step(struct pace *pace, size_t from, size_t n, bool ends)
{
    struct task_load *loads = mem_array(NULL, n, sizeof *loads);
    struct task *was = mem_array(NULL, n, sizeof *was);
    struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct tx *tx = NULL;
    must(store_begin(pace->store, &tx, &err), &err);
    for (size_t i = 0; i < n; i++) {
        const struct task *task = &pace->tasks[from + i];
        loads[i] = (struct task_load){
            .id = task->id, .arena = &arena, .whole = true, .starts = !ends, .token = task->token};
    }
    must(tx_load(tx, loads, n, &err), &err);
    for (size_t i = 0; i < n; i++) {
        struct task_claim claim = {STR("worker-1"), LEASE_MS, rand_u64(&pace->rand) | 1};
        struct task *task = &pace->tasks[from + i];
        was[i] = loads[i].task;
        must(ends ? task_complete(task, STR("{\"ok\":true}"), now_ms(), &err)
                  : task_start(task, &claim, now_ms(), &err),
             &err);
    }
    save(pace, tx, from, n, was, ends);
    arena_fini(&arena);
    mem_free(loads);
    mem_free(was);
}

static void start(struct pace *pace, size_t from, size_t n)
{
    step(pace, from, n, false);
}

static void complete(struct pace *pace, size_t from, size_t n)
{
    step(pace, from, n, true);
}

/* User and system time of a process and its children so far, in microseconds. */
static int64_t spent_by(long pid, long parent)
{
    char path[64], text[1024];
    long its_parent = 0, user = 0, system = 0;
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "r");
    size_t got = file == NULL ? 0 : fread(text, 1, sizeof text - 1, file);
    if (file != NULL) {
        fclose(file);
    }
    text[got] = '\0';
    const char *rest = strrchr(text, ')');
    if (rest == NULL || sscanf(rest, ") %*c %ld %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld",
                               &its_parent, &user, &system) != 3) {
        return 0;
    }
    return pid == parent || its_parent == parent
               ? (user + system) * (1000000 / sysconf(_SC_CLK_TCK))
               : 0;
}

static int64_t spent_us(long server)
{
    int64_t sum = 0;
    DIR *folder = opendir("/proc");
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        long pid = atol(entry->d_name);
        sum += pid > 0 ? spent_by(pid, server) : 0;
    }
    closedir(folder);
    return sum;
}

/* All batches, one step each; prints how long that took. */
static void run(struct pace *pace, long server, void (*one)(struct pace *, size_t, size_t),
                const char *name)
{
    int64_t began_us = clock_real_mono_us(), spent = server > 0 ? spent_us(server) : 0;
    for (size_t from = 0; from < pace->count; from += pace->batch) {
        one(pace, from, MIN(pace->batch, pace->count - from));
    }
    double each = (double)(clock_real_mono_us() - began_us) / (double)pace->count;
    printf("%s %.0f/s", name, 1e6 / each);
    if (server > 0) {
        printf(", PostgreSQL %.1f us", (double)(spent_us(server) - spent) / (double)pace->count);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    struct pace pace = {.arena = ARENA_INIT};
    struct err err = ERR_INIT;
    long server = argc > 4 ? atol(argv[4]) : 0;
    pace.count = argc > 2 ? (size_t)atol(argv[2]) : 0;
    pace.batch = argc > 3 ? (size_t)atol(argv[3]) : 0;
    if (pace.count == 0 || pace.batch == 0) {
        fprintf(stderr, "usage: ref_store URL TASKS BATCH [PROCESS]\n");
        return 2;
    }
    rand_init(&pace.rand);
    pace.ids.rand = &pace.rand;
    pace.tasks = mem_array(NULL, pace.count, sizeof *pace.tasks);
    must(store_open(&(struct store_options){.url = str_of(argv[1])}, &pace.store, &err), &err);
    order_all(&pace);
    run(&pace, server, create, "create");
    run(&pace, server, start, "start");
    run(&pace, server, complete, "complete");
    store_close(pace.store);
    arena_fini(&pace.arena);
    mem_free(pace.tasks);
    return 0;
}
