/* tests/work/handlers/functions.c: run functions for the tests, built as any user builds theirs.
 *
 * SPDX-License-Identifier: MIT */
#include <errand/handler.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int facts(errand_task *task)
{
    char json[512];
    size_t length;
    const char *payload = errand_payload(task, &length);
    const char *document = errand_document_id(task);
    int written =
        snprintf(json, sizeof json, "[\"%s\",\"%s\",\"%s\",%d,%zu,%s]", errand_task_id(task),
                 errand_task_type(task), document == NULL ? "none" : document, errand_attempt(task),
                 length, payload == NULL ? "null" : payload);
    return errand_result(task, json, (size_t)written);
}

static int talks(errand_task *task)
{
    errand_log(task, "first line");
    errand_progress(task, 40, "two fifths");
    errand_log(task, "bad \xff byte\nand a third line");
    return 0;
}

static int talks_much(errand_task *task)
{
    char line[200];
    for (int i = 0; i < 100000; i++) {
        snprintf(line, sizeof line, "line %d of far too many that are of no use to anybody", i);
        errand_log(task, line);
        errand_progress(task, i / 1000.0, NULL);
    }
    return 0;
}

static int fails(errand_task *task)
{
    return errand_fail(task, "no_such_image", "the file is gone", 0);
}

static int returns_seven(errand_task *task)
{
    (void)task;
    return 7;
}

static int no_json(errand_task *task)
{
    return errand_result(task, "{oops", 5);
}

/* Stops when it is asked to. */
static int obedient(errand_task *task)
{
    struct pollfd asked = {.fd = errand_abort_fd(task), .events = POLLIN};
    errand_log(task, "begun");
    while (!errand_aborted(task)) {
        poll(&asked, 1, -1);
    }
    return 1;
}

/* Done anyway when it is asked to stop. */
static int diligent(errand_task *task)
{
    struct pollfd asked = {.fd = errand_abort_fd(task), .events = POLLIN};
    errand_log(task, "begun");
    poll(&asked, 1, -1);
    return errand_result(task, "\"done\"", 6);
}

/* Goes on until a byte comes from the descriptor that the payload names. */
static int stubborn(errand_task *task)
{
    char byte;
    int fd = atoi(errand_payload(task, NULL));
    errand_log(task, "begun");
    return read(fd, &byte, 1) == 1 ? 0 : 2;
}

int errand_register(errand_registry *registry)
{
    static const struct {
        const char *type;
        errand_run *run;
    } all[] = {{"facts", facts},       {"talks", talks},         {"talks_much", talks_much},
               {"fails", fails},       {"seven", returns_seven}, {"no_json", no_json},
               {"obedient", obedient}, {"diligent", diligent},   {"stubborn", stubborn}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (errand_add(registry, all[i].type, all[i].run) != 0) {
            return -1;
        }
    }
    return 0;
}
