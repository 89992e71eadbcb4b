/* tests/remote/driver.c: liberrand on a string: does what lines on standard input say.
 *
 * Includes the public header alone and links the shared library, as a user's program would.
 * driver URL [SPOOL]; each command is answered with one line. See test_remote.py.
 *
 * SPDX-License-Identifier: MIT */
#include <errand/client.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOBS_MAX 200

struct driver {
    errand_client *client;
    errand_job *jobs[JOBS_MAX];
    int count;
    sem_t stopped, finished;
    int why, last_status, good;
};

static void on_stop(errand_job *job, enum errand_stop why, void *arg)
{
    struct driver *driver = arg;
    (void)job;
    driver->why = (int)why;
    sem_post(&driver->stopped);
}

static void on_finished(const char *id, const struct errand_error *error, void *arg)
{
    struct driver *driver = arg;
    (void)id;
    driver->last_status = error->status;
    driver->good += error->status == 200;
    sem_post(&driver->finished);
}

/* ---- The commands ---- */

static void do_create(struct driver *driver, const char *type, int count)
{
    int created = 0, spooled = 0, failed = 0;
    struct errand_error error = {0};
    for (int i = 0; i < count; i++) {
        char payload[32];
        snprintf(payload, sizeof payload, "{\"n\":%d}", i);
        int how = errand_create(driver->client, type, payload, NULL, NULL, &error);
        created += how == ERRAND_CREATED;
        spooled += how == ERRAND_SPOOLED;
        failed += how < 0;
    }
    printf("created %d spooled %d failed %d %s\n", created, spooled, failed, error.code);
}

static void do_claim(struct driver *driver, const char *type, int max)
{
    struct errand_wish wish = ERRAND_WISH;
    struct errand_error error = {0};
    wish.types = &type;
    wish.types_count = 1;
    wish.lease_ms = 1500;
    driver->count = errand_claim(driver->client, &wish, driver->jobs, (size_t)max, &error);
    printf("claimed %d %s\n", driver->count, error.code);
}

static void do_finish(struct driver *driver, const char *how)
{
    driver->good = 0;
    for (int i = 0; i < driver->count; i++) {
        errand_job *job = driver->jobs[i];
        size_t len;
        const char *payload = errand_job_payload(job, &len);
        if (strcmp(how, "complete") == 0) {
            errand_job_complete(job, payload, NULL);
        } else if (strcmp(how, "fail") == 0) {
            errand_job_fail(job, "no_luck", "it did not work", "{\"why\":1}", 0, NULL);
        } else {
            errand_job_release(job, 0);
        }
    }
    printf("given away\n");
}

/* One after the other, as a worker does it: claim, do, complete, claim. */
static void do_rhythm(struct driver *driver, const char *type, int count)
{
    struct errand_wish wish = ERRAND_WISH;
    int done = 0;
    wish.types = &type;
    wish.types_count = 1;
    driver->good = 0;
    while (done < count && errand_claim(driver->client, &wish, driver->jobs, 1, NULL) == 1) {
        done++;
        errand_job_complete(driver->jobs[0], NULL, NULL);
    }
    for (int i = 0; i < done; i++) {
        sem_wait(&driver->finished);
    }
    printf("done %d good %d\n", done, driver->good);
}

static void do_await(struct driver *driver)
{
    for (int i = 0; i < driver->count; i++) {
        sem_wait(&driver->finished);
    }
    printf("answered %d good %d last %d\n", driver->count, driver->good, driver->last_status);
}

static void do_report(struct driver *driver, const char *message)
{
    errand_job_progress(driver->jobs[0], 40, message);
    errand_job_log(driver->jobs[0], "a line");
    printf("reported\n");
}

static void obey(struct driver *driver, const char *line)
{
    char verb[32] = "", word[64] = "";
    int number = 0;
    sscanf(line, "%31s %63s %d", verb, word, &number);
    if (strcmp(verb, "create") == 0) {
        do_create(driver, word, number);
    } else if (strcmp(verb, "claim") == 0) {
        do_claim(driver, word, number);
    } else if (strcmp(verb, "finish") == 0) {
        do_finish(driver, word);
    } else if (strcmp(verb, "rhythm") == 0) {
        do_rhythm(driver, word, number);
    } else if (strcmp(verb, "await") == 0) {
        do_await(driver);
    } else if (strcmp(verb, "report") == 0) {
        do_report(driver, word);
    } else if (strcmp(verb, "stopped") == 0) {
        sem_wait(&driver->stopped);
        printf("stopped %d %d\n", driver->why, (int)errand_job_stop(driver->jobs[0]));
    } else if (strcmp(verb, "flush") == 0) {
        printf("flushed %d\n", errand_client_flush(driver->client, atoi(word)));
    } else {
        printf("what?\n");
    }
}

int main(int argc, char **argv)
{
    struct driver driver = {.client = NULL};
    struct errand_options options = ERRAND_OPTIONS;
    struct errand_error error;
    char line[256];
    options.url = argc > 1 ? argv[1] : NULL;
    options.spool = argc > 2 ? argv[2] : NULL;
    options.backoff_min_ms = 5;
    options.backoff_max_ms = 20;
    options.patience_ms = 60000;
    options.on_stop = on_stop;
    options.on_finished = on_finished;
    options.arg = &driver;
    sem_init(&driver.stopped, 0, 0);
    sem_init(&driver.finished, 0, 0);
    driver.client = errand_client_open(&options, &error);
    printf("%s\n", driver.client == NULL ? error.message : "ready");
    fflush(stdout);
    while (driver.client != NULL && fgets(line, sizeof line, stdin) != NULL) {
        obey(&driver, line);
        fflush(stdout);
    }
    errand_client_free(driver.client);
    return driver.client == NULL;
}
