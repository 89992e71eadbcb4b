/* tests/test.c: runs every registered TEST and speaks TAP. See test.h.
 *
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"

#define PATIENCE_US INT64_C(60000000)

static struct test_case *tests; /* the list of tests: one of the three mutable statics */
static size_t tests_count;

void test_register(struct test_case *test)
{
    struct test_case **end = &tests;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = test;
    tests_count++;
}

void test_check_str(struct str got, const char *want, const char *file, int line)
{
    if (!str_is(got, want)) {
        print_error("got  <" STR_FMT ">\nwant <%s>\n", STR_ARG(got), want);
        _fail(file, line);
    }
}

void test_check_ok(bool ok, const struct err *err, const char *call, const char *file, int line)
{
    if (!ok) {
        print_error("%s failed: %s%s%s\n", call, err->field, err->field[0] ? ": " : "", err->text);
        _fail(file, line);
    }
}

void test_pause(int64_t *since_us, const char *truth, const char *file, int line)
{
    const struct timespec moment = {.tv_nsec = 2 * 1000 * 1000};
    if (*since_us == 0) {
        *since_us = clock_real_mono_us();
    } else if (clock_real_mono_us() > *since_us + PATIENCE_US) {
        print_error("waited in vain for %s\n", truth);
        _fail(file, line);
    }
    nanosleep(&moment, NULL);
}

/* With an argument only the tests whose name contains it run: handy under a debugger. */
int main(int argc, char **argv)
{
    struct CMUnitTest *all = mem_zero(tests_count * sizeof *all);
    size_t n = 0;
    for (struct test_case *test = tests; test != NULL; test = test->next) {
        if (argc < 2 || strstr(test->name, argv[1]) != NULL) {
            all[n++] = (struct CMUnitTest){test->name, test->run, NULL, NULL, NULL};
        }
    }
    cmocka_set_message_output(CM_OUTPUT_TAP);
    int failed = _cmocka_run_group_tests(argv[0], all, n, NULL, NULL);
    mem_free(all);
    return failed == 0 ? 0 : 1;
}
