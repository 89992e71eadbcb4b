/* tests/client/test_secret.c: keys and passwords are found, and do not show.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "client/secret.h"
#include "test.h"

static void write_file(char path[], const char *text)
{
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

TEST(a_place_that_names_nothing_has_no_secret)
{
    struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct str secret = STR("before");
    CHECK_OK(secret_read(&(struct secret_place){STR_NONE, STR_NONE}, &arena, &secret, &err));
    CHECK(str_absent(secret));
    arena_fini(&arena);
}

TEST(a_secret_comes_from_the_environment)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct str secret;
    setenv("TEST_SECRET", "sk-42", 1);
    CHECK_OK(
        secret_read(&(struct secret_place){STR("TEST_SECRET"), STR_NONE}, &arena, &secret, &err));
    CHECK_STR(secret, "sk-42");
    unsetenv("TEST_SECRET");
    CHECK(
        !secret_read(&(struct secret_place){STR("TEST_SECRET"), STR_NONE}, &arena, &secret, &err));
    CHECK_EQ(err.kind, ERR_INVALID);
    CHECK_STR(str_of(err.text), "the environment has no TEST_SECRET");
}

TEST(a_secret_comes_from_a_file_without_its_line_end)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct str secret;
    char path[] = "/tmp/errand-secret-XXXXXX";
    write_file(path, "sk-43\r\n");
    CHECK_OK(secret_read(&(struct secret_place){STR_NONE, str_of(path)}, &arena, &secret, &err));
    CHECK_STR(secret, "sk-43");
    unlink(path);
    CHECK(!secret_read(&(struct secret_place){STR_NONE, str_of(path)}, &arena, &secret, &err));
    CHECK_EQ(err.kind, ERR_INVALID);
}

TEST(a_secret_of_two_lines_is_refused_and_not_shown)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct str secret;
    char path[] = "/tmp/errand-secret-XXXXXX";
    write_file(path, "sk-44\nEvil: header\n");
    CHECK(!secret_read(&(struct secret_place){STR_NONE, str_of(path)}, &arena, &secret, &err));
    CHECK(strstr(err.text, "sk-44") == NULL);
    unlink(path);
}

TEST(stars_stand_where_a_secret_was_repeated)
{
    char text[] = "bad key sk-45, I said sk-45";
    secret_hide(STR("sk-45"), text);
    CHECK_STR(str_of(text), "bad key *****, I said *****");
    secret_hide(STR_NONE, text);
    secret_hide(STR("I"), text);
    CHECK_STR(str_of(text), "bad key *****, I said *****");
}
