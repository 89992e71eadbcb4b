/* tests/fleet/test_note.c: events cross from node to node unchanged.
 *
 * SPDX-License-Identifier: MIT */
#include "fleet/note.h"

#include "test.h"

static struct event_batch two_events(struct event events[static 2])
{
    events[0] = (struct event){.kind = EVENT_STATE,
                               .at_ms = 1800000000123,
                               .task = {0x0192f3a1b2c37004, 0x8123456789abcdef},
                               .parent = {0x0192f3a1b2c37003, 0x8123456789abcdee},
                               .type = STR("report"),
                               .queue = STR("default"),
                               .document = STR("a:b-c\n5:"),
                               .state = TASK_RETRYING,
                               .attempt = 3,
                               .percent = -1};
    events[1] = (struct event){.kind = EVENT_TOPIC,
                               .topic = STR("team:1"),
                               .name = STR("message"),
                               .text = STR("{\"body\":\"\\n\"}\n"),
                               .percent = 12.5};
    return (struct event_batch){.events = events, .count = 2};
}

TEST(a_batch_of_events_comes_out_as_it_went_in)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(NOTE_MAX);
    struct event events[2];
    struct event_batch in = two_events(events), *out;
    struct err err = ERR_INIT;
    struct str from;
    note_write(&text, STR("node-1"), &in);
    CHECK(note_from(buf_view(&text), &from));
    CHECK_STR(from, "node-1");
    CHECK_OK(note_read(buf_view(&text), &out, &err));
    CHECK_EQ(out->count, 2);
    CHECK(id_eq(out->events[0].task, in.events[0].task));
    CHECK(id_eq(out->events[0].parent, in.events[0].parent));
    CHECK(id_none(out->events[0].family));
    CHECK(str_eq(out->events[0].document, in.events[0].document));
    CHECK_EQ(out->events[0].state, TASK_RETRYING);
    CHECK_EQ(out->events[0].attempt, 3);
    CHECK_EQ(out->events[0].percent, -1);
    CHECK(str_absent(out->events[0].topic));
    CHECK(str_eq(out->events[1].text, in.events[1].text));
    CHECK_EQ(out->events[1].percent, 12.5);
    event_batch_free(out);
}

TEST(an_event_of_a_kind_that_only_newer_nodes_know_is_passed_over)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(NOTE_MAX);
    struct event events[2];
    struct event_batch in = two_events(events), *out;
    struct err err = ERR_INIT;
    in.events[0].kind = (enum event_kind)77;
    note_write(&text, STR("n"), &in);
    CHECK_OK(note_read(buf_view(&text), &out, &err));
    CHECK_EQ(out->count, 1);
    CHECK_STR(out->events[0].name, "message");
    event_batch_free(out);
}

TEST(what_is_no_note_is_refused)
{
    static const char *const bad[] = {"",
                                      "errand1",
                                      "errand1 \n",
                                      "errand2 n\n",
                                      "hello",
                                      "errand1 n\n0 1",
                                      "errand1 n\n0 1 x 0 0 0 0 "};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct event_batch *out;
        struct err err = ERR_INIT;
        CHECK(!note_read(str_of(bad[i]), &out, &err));
    }
}

TEST(a_text_longer_than_the_note_is_refused)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(NOTE_MAX);
    struct event events[2];
    struct event_batch in = two_events(events), *out;
    struct err err = ERR_INIT;
    note_write(&text, STR("n"), &in);
    for (size_t len = 10; len < text.len; len++) {
        struct str cut = {text.ptr, len};
        if (note_read(cut, &out, &err)) {
            CHECK(text.ptr[len - 1] == '\n');
            event_batch_free(out);
        }
    }
}

TEST(a_note_that_came_by_two_ways_is_new_once)
{
    struct note_memory memory = {{0}};
    CHECK(note_is_new(&memory, STR("errand1 n\n1")));
    CHECK(note_is_new(&memory, STR("errand1 n\n2")));
    CHECK(!note_is_new(&memory, STR("errand1 n\n1")));
    CHECK(!note_is_new(&memory, STR("errand1 n\n2")));
}
