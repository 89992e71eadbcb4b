/* tests/remote/test_spool.c: what is added is there, in order, whatever happened to the process.
 *
 * SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "remote/spool.h"
#include "test.h"

#define LOOK_MAX 16

/* A folder of its own, and a spool in it. */
struct desk {
    char folder[32], path[64], refused[80];
    struct spool *spool;
    struct arena arena;
    struct str seen[LOOK_MAX];
};

static void desk_open(struct desk *desk, int64_t max)
{
    struct err err = ERR_INIT;
    CHECK_OK(spool_open(desk->path, max, &desk->spool, &err));
}

static struct desk desk_new(int64_t max)
{
    struct desk desk = {.folder = "/tmp/errand-spool-XXXXXX"};
    CHECK(mkdtemp(desk.folder) != NULL);
    snprintf(desk.path, sizeof desk.path, "%s/spool", desk.folder);
    snprintf(desk.refused, sizeof desk.refused, "%s.refused", desk.path);
    desk_open(&desk, max);
    return desk;
}

static void desk_reopen(struct desk *desk)
{
    spool_close(desk->spool);
    desk_open(desk, MIB);
}

static void desk_fini(struct desk *desk)
{
    spool_close(desk->spool);
    unlink(desk->path);
    unlink(desk->refused);
    rmdir(desk->folder);
    arena_fini(&desk->arena);
}

static void add(struct desk *desk, const char *text)
{
    struct err err = ERR_INIT;
    CHECK_OK(spool_add(desk->spool, str_of(text), &err));
}

static size_t look(struct desk *desk, size_t max)
{
    return spool_look(desk->spool, max, MIB, &desk->arena, desk->seen);
}

static int64_t size_of(const char *path)
{
    struct stat stat_now;
    return stat(path, &stat_now) == 0 ? stat_now.st_size : -1;
}

TEST(records_come_out_in_the_order_they_went_in)
{
    SCOPED(desk_fini) struct desk desk = desk_new(MIB);
    CHECK(spool_empty(desk.spool));
    add(&desk, "{\"a\":\n1}");
    add(&desk, "");
    add(&desk, "three");
    CHECK(!spool_empty(desk.spool));
    CHECK_EQ(look(&desk, LOOK_MAX), 3);
    CHECK_STR(desk.seen[0], "{\"a\":\n1}");
    CHECK_STR(desk.seen[1], "");
    CHECK_STR(desk.seen[2], "three");
}

TEST(what_was_dropped_does_not_come_back)
{
    SCOPED(desk_fini) struct desk desk = desk_new(MIB);
    struct err err = ERR_INIT;
    add(&desk, "one");
    add(&desk, "two");
    CHECK_EQ(look(&desk, 1), 1);
    CHECK_OK(spool_drop(desk.spool, desk.seen, 1, &err));
    desk_reopen(&desk);
    CHECK_EQ(look(&desk, LOOK_MAX), 1);
    CHECK_STR(desk.seen[0], "two");
}

TEST(an_empty_spool_takes_no_room)
{
    SCOPED(desk_fini) struct desk desk = desk_new(MIB);
    struct err err = ERR_INIT;
    int64_t before = size_of(desk.path);
    add(&desk, "one");
    CHECK_EQ(look(&desk, LOOK_MAX), 1);
    CHECK_OK(spool_drop(desk.spool, desk.seen, 1, &err));
    CHECK(spool_empty(desk.spool));
    CHECK_EQ(size_of(desk.path), before);
    add(&desk, "two");
    CHECK_EQ(look(&desk, LOOK_MAX), 1);
    CHECK_STR(desk.seen[0], "two");
}

TEST(a_record_torn_by_a_crash_hides_nothing)
{
    SCOPED(desk_fini) struct desk desk = desk_new(MIB);
    add(&desk, "whole");
    int64_t whole = size_of(desk.path);
    add(&desk, "torn in the middle");
    spool_close(desk.spool);
    for (int64_t cut = size_of(desk.path) - 1; cut > whole; cut--) {
        CHECK_EQ(truncate(desk.path, cut), 0);
        desk_open(&desk, MIB);
        CHECK_EQ(look(&desk, LOOK_MAX), 1);
        add(&desk, "after");
        CHECK_EQ(look(&desk, LOOK_MAX), 2);
        CHECK_STR(desk.seen[1], "after");
        CHECK_EQ(truncate(desk.path, whole), 0);
        spool_close(desk.spool);
    }
    desk_open(&desk, MIB);
}

TEST(zeroes_behind_the_last_record_are_not_one)
{
    SCOPED(desk_fini) struct desk desk = desk_new(MIB);
    add(&desk, "whole");
    CHECK_EQ(truncate(desk.path, size_of(desk.path) + 4096), 0);
    desk_reopen(&desk);
    CHECK_EQ(look(&desk, LOOK_MAX), 1);
}

TEST(a_full_spool_refuses_and_keeps_what_it_has)
{
    SCOPED(desk_fini) struct desk desk = desk_new(100);
    struct err err = ERR_INIT;
    add(&desk, "one");
    CHECK(!spool_add(desk.spool, STR("this is one record too many for a hundred bytes"), &err));
    CHECK_EQ(err.kind, ERR_BUSY);
    CHECK_EQ(look(&desk, LOOK_MAX), 1);
}

TEST(a_spool_belongs_to_one_process)
{
    SCOPED(desk_fini) struct desk desk = desk_new(MIB);
    struct err err = ERR_INIT;
    struct spool *other;
    CHECK(!spool_open(desk.path, MIB, &other, &err));
    CHECK_EQ(err.kind, ERR_CONFLICT);
}

TEST(a_file_that_is_no_spool_is_left_alone)
{
    SCOPED(desk_fini) struct desk desk = desk_new(MIB);
    struct err err = ERR_INIT;
    struct spool *other;
    int fd = open(desk.refused, O_WRONLY | O_CREAT, 0600);
    CHECK_EQ(write(fd, "dear diary, this is a letter and no spool\n", 42), 42);
    close(fd);
    CHECK(!spool_open(desk.refused, MIB, &other, &err));
    CHECK_EQ(size_of(desk.refused), 42);
}

TEST(what_the_server_refused_is_kept_beside_the_spool)
{
    SCOPED(desk_fini) struct desk desk = desk_new(MIB);
    struct err err = ERR_INIT;
    char text[128] = "";
    CHECK_OK(spool_refuse(desk.spool, STR("{\"x\":1}"), STR("no such queue"), &err));
    int fd = open(desk.refused, O_RDONLY);
    CHECK(read(fd, text, sizeof text - 1) > 0);
    close(fd);
    CHECK_STR(str_of(text), "{\"reason\":\"no such queue\",\"order\":\"{\\\"x\\\":1}\"}\n");
}
