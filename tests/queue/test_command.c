/* tests/queue/test_command.c: the table of commands is whole, and says what is so.
 *
 * SPDX-License-Identifier: MIT */
#include "bench.h"
#include "test.h"

TEST(every_kind_of_command_has_a_row_with_a_name_of_its_own)
{
    for (int kind = 0; kind < COMMAND_KINDS; kind++) {
        const struct command_row *row = command_row((enum command_kind)kind);
        CHECK(row->name != NULL && row->decide != NULL && row->senders != 0);
        for (int other = 0; other < kind; other++) {
            CHECK(strcmp(row->name, command_row((enum command_kind)other)->name) != 0);
        }
    }
}

TEST(what_writes_fails_with_its_batch)
{
    for (int kind = 0; kind < COMMAND_KINDS; kind++) {
        const struct command_row *row = command_row((enum command_kind)kind);
        CHECK(!row->writes || row->answer == ANSWER_COMMITTED);
    }
}

TEST(a_command_is_told_of_a_failed_commit_exactly_if_its_row_says_so)
{
    static const enum command_kind kinds[] = {COMMAND_CANCEL, COMMAND_WHY, COMMAND_STATS,
                                              COMMAND_QUEUES, COMMAND_CHANGE};
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t");
    struct call *calls[ARRAY_LEN(kinds)];
    struct call *create = bench_create_call(&b, &(struct bench_order){.type = "t"}, 1);
    bench_give(&b, create);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        calls[i] = bench_one_call(&b, kinds[i], id);
        if (kinds[i] == COMMAND_WHY) {
            calls[i]->command.why.id = id;
        }
        bench_give(&b, calls[i]);
    }
    memory_disk_fail_next(b.disk, MEMORY_FULL);
    bench_step(&b);
    CHECK_EQ(create->command.err.kind, ERR_UNAVAILABLE);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        bool told = calls[i]->command.err.kind == ERR_UNAVAILABLE;
        CHECK(calls[i]->answered);
        CHECK_EQ(told, command_row(kinds[i])->answer == ANSWER_COMMITTED);
    }
}

TEST(only_those_that_wait_for_more_than_a_commit_are_held)
{
    for (int kind = 0; kind < COMMAND_KINDS; kind++) {
        bool held = command_row((enum command_kind)kind)->held != NULL;
        CHECK_EQ(held, kind == COMMAND_CLAIM || kind == COMMAND_BULK || kind == COMMAND_CLOCK ||
                           kind == COMMAND_WAKE);
    }
}

TEST(a_client_sends_nothing_that_is_the_fleet_s)
{
    struct command lead = {.kind = COMMAND_LEAD}, claim = {.kind = COMMAND_CLAIM};
    CHECK(!command_is_from(&lead, BY_CLIENT | BY_OPERATOR | BY_SERVER | BY_WORKER));
    CHECK(command_is_from(&lead, BY_FLEET));
    CHECK(command_is_from(&claim, BY_CLIENT) && command_is_from(&claim, BY_WORKER));
}
