/* tests/test.h: a test's name is a claim in plain words; its body arranges, acts and checks.
 *
 *     TEST(an_empty_list_has_no_first)
 *     {
 *         …
 *         CHECK(list_first(&list) == NULL);
 *     }
 *
 * Every TEST of a program registers itself; test.c has the main() that runs them under cmocka.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TESTS_TEST_H
#define ERRAND_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"

struct test_case {
    const char *name;
    void (*run)(void **);
    struct test_case *next;
};

void test_register(struct test_case *test);

#define TEST(claim)                                                                                \
    static void claim(void **cmocka_state);                                                        \
    __attribute__((constructor)) static void claim##_register(void)                                \
    {                                                                                              \
        static struct test_case test = {#claim, claim, NULL};                                      \
        test_register(&test);                                                                      \
    }                                                                                              \
    static void claim(void **cmocka_state __attribute__((unused)))

#define CHECK(truth)         assert_true(truth)
#define CHECK_EQ(got, want)  assert_int_equal((got), (want))
#define CHECK_STR(got, want) test_check_str((got), (want), __FILE__, __LINE__)
#define CHECK_OK(call)       test_check_ok((call), &err, #call, __FILE__, __LINE__)

/* Asks again and again until it is so; a minute without is a failure. No other test code pauses a
 * thread: what a test waits for is said. */
#define WAIT_FOR(truth)                                                                            \
    for (int64_t since_us = 0; !(truth);) {                                                        \
        test_pause(&since_us, #truth, __FILE__, __LINE__);                                         \
    }

/* A moment; fails when the first such moment was too long ago. */
void test_pause(int64_t *since_us, const char *truth, const char *file, int line);

/* Fails with both texts shown; `want` is a C string. */
void test_check_str(struct str got, const char *want, const char *file, int line);

struct err;
void test_check_ok(bool ok, const struct err *err, const char *call, const char *file, int line);

#endif
