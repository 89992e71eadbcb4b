/* tests/base/test_base.c: the words, containers and clocks that everything stands on.
 *
 * SPDX-License-Identifier: MIT */
#include "base/arena.h"
#include "base/array.h"
#include "base/buf.h"
#include "base/channel.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/heap.h"
#include "base/map.h"
#include "base/nearest.h"
#include "base/rand.h"
#include "test.h"

TEST(cutting_sees_every_piece_and_then_stops)
{
    struct str rest = STR("a,,b");
    CHECK_STR(str_cut(&rest, ','), "a");
    CHECK_STR(str_cut(&rest, ','), "");
    CHECK_STR(str_cut(&rest, ','), "b");
    CHECK(str_absent(rest));
}

TEST(numbers_are_read_whole_or_refused)
{
    uint64_t u;
    int64_t i;
    CHECK(str_u64(STR("18446744073709551615"), &u) && u == UINT64_MAX);
    CHECK(!str_u64(STR("18446744073709551616"), &u));
    CHECK(!str_u64(STR(""), &u) && !str_u64(STR("+1"), &u) && !str_u64(STR("1 "), &u));
    CHECK(str_i64(STR("-9223372036854775808"), &i) && i == INT64_MIN);
    CHECK(!str_i64(STR("9223372036854775808"), &i) && !str_i64(STR("-"), &i));
}

TEST(utf8_is_judged_strictly)
{
    CHECK(str_is_utf8(STR("h\xC3\xA9llo \xF0\x9F\x98\x80")));
    CHECK(!str_is_utf8(STR("\xC0\x80")) && !str_is_utf8(STR("\xED\xA0\x80")));
    CHECK(!str_is_utf8(STR("\xF4\x90\x80\x80")) && !str_is_utf8(STR("\xE2\x82")));
    CHECK(str_has_control(STR("a\nb")) && str_has_control(STR("\xC2\x85")));
    CHECK(!str_has_control(STR("\xC3\xA9")));
}

TEST(line_ends_are_taken_off_the_end_alone)
{
    CHECK_STR(str_chomp(STR("a\nb\r\n\n")), "a\nb");
    CHECK_STR(str_chomp(STR("\n")), "");
    CHECK_STR(str_chomp(STR("a ")), "a ");
}

TEST(a_head_is_cut_between_characters)
{
    CHECK_STR(str_head(STR("a\xC3\xBC"), 3), "a\xC3\xBC");
    CHECK_STR(str_head(STR("a\xC3\xBC"), 2), "a");
    CHECK_STR(str_head(STR("\xF0\x9F\x98\x80!"), 3), "");
    CHECK_STR(str_head(STR("plain"), 4), "plai");
    CHECK(str_absent(str_head(STR_NONE, 4)));
}

TEST(an_array_in_an_arena_grows_and_keeps_what_is_in_it)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    int *at = NULL;
    size_t count = 0;
    for (int i = 0; i < 1000; i++) {
        *ARENA_PUSH(&arena, at, count) = i;
    }
    CHECK_EQ(count, 1000);
    for (int i = 0; i < 1000; i++) {
        CHECK_EQ(at[i], i);
    }
}

TEST(an_array_grows_and_keeps_what_is_in_it)
{
    struct {
        int *at;
        size_t count, room;
    } list = {NULL, 0, 0};
    for (int i = 0; i < 1000; i++) {
        *ARRAY_PUSH(list.at, list.count, list.room) = i;
    }
    CHECK_EQ(list.count, 1000);
    CHECK(list.room >= list.count && list.room < 3000);
    CHECK(list.at[0] == 0 && list.at[999] == 999);
    ARRAY_ROOM(list.at, list.room, 5000);
    CHECK_EQ(list.room, 5000);
    CHECK(list.at[999] == 999);
    mem_free(list.at);
}

TEST(a_buffer_stops_at_its_ceiling)
{
    SCOPED(buf_fini) struct buf b = BUF_INIT(8);
    buf_c(&b, "12345678");
    CHECK(!b.full);
    buf_char(&b, '9');
    CHECK(b.full);
    CHECK_STR(buf_view(&b), "12345678");
}

TEST(an_arena_keeps_pieces_of_any_size_apart)
{
    SCOPED(arena_fini) struct arena a = ARENA_INIT;
    char *small = arena_alloc(&a, 3), *huge = arena_alloc(&a, 1 << 20), *next = arena_alloc(&a, 5);
    memset(huge, 1, 1 << 20);
    memset(small, 2, 3);
    memset(next, 3, 5);
    CHECK(huge[0] == 1 && huge[(1 << 20) - 1] == 1 && small[2] == 2);
    CHECK_STR(arena_printf(&a, "%d-%s", 7, "x"), "7-x");
}

TEST(errors_grow_outward_into_a_sentence)
{
    struct err err = ERR_INIT;
    CHECK(!err_set(&err, ERR_LEASE_LOST, "its lease was lost"));
    CHECK(!err_wrap(&err, "fail task %s", "0192f3"));
    CHECK_STR(str_of(err.text), "fail task 0192f3: its lease was lost");
    CHECK_EQ(err.kind, ERR_LEASE_LOST);
}

struct item {
    int64_t key;
    struct heap_node heap;
    struct map_node map;
    struct link link;
};

static bool item_before(const struct heap_node *a, const struct heap_node *b)
{
    return HOLDER(a, struct item, heap)->key < HOLDER(b, struct item, heap)->key;
}

TEST(a_heap_gives_its_members_in_order_whoever_leaves)
{
    struct item items[500];
    struct heap heap = HEAP_INIT(item_before);
    struct rand rand;
    rand_init_seed(&rand, 7);
    for (size_t i = 0; i < ARRAY_LEN(items); i++) {
        items[i] = (struct item){.key = (int64_t)rand_below(&rand, 100)};
        heap_add(&heap, &items[i].heap);
    }
    for (size_t i = 0; i < ARRAY_LEN(items); i += 3) {
        heap_remove(&heap, &items[i].heap);
    }
    int64_t last = -1;
    size_t seen = 0;
    for (struct heap_node *top; (top = heap_top(&heap)) != NULL; seen++) {
        int64_t key = HOLDER(top, struct item, heap)->key;
        CHECK(key >= last);
        last = key;
        heap_remove(&heap, top);
    }
    CHECK_EQ(seen, ARRAY_LEN(items) - 167);
    heap_fini(&heap);
}

TEST(a_map_finds_each_of_several_with_one_hash)
{
    struct item items[100] = {0};
    struct map map = MAP_INIT;
    for (size_t i = 0; i < ARRAY_LEN(items); i++) {
        map_add(&map, &items[i].map, i % 10);
    }
    size_t seen = 0;
    for (struct map_node *n = map_find(&map, 3); n != NULL; n = map_again(n)) {
        seen++;
    }
    CHECK_EQ(seen, 10);
    struct map_walk at = MAP_WALK;
    for (struct map_node *n; (n = map_walk(&map, &at)) != NULL;) {
        map_remove(&map, n);
    }
    CHECK_EQ(map.count, 0);
    CHECK(map_find(&map, 3) == NULL);
    map_fini(&map);
}

static void count_wake(void *count)
{
    ++*(int *)count;
}

TEST(a_channel_keeps_the_order_and_wakes_once)
{
    struct item items[3] = {{.key = 0}, {.key = 1}, {.key = 2}};
    struct channel channel;
    struct list out;
    int wakes = 0;
    channel_init(&channel, count_wake, &wakes);
    list_init(&out);
    for (size_t i = 0; i < ARRAY_LEN(items); i++) {
        channel_give(&channel, &items[i].link);
    }
    CHECK(channel_take(&channel, &out));
    CHECK_EQ(wakes, 1);
    int64_t expected = 0;
    LIST_EACH(&out, it)
    {
        CHECK_EQ(HOLDER(it, struct item, link)->key, expected++);
    }
    CHECK(!channel_take(&channel, &out));
    channel_fini(&channel);
}

TEST(a_clock_wound_by_hand_moves_both_hands_together)
{
    struct clock clock;
    clock_init_by_hand(&clock, 1000000);
    struct now before = clock_now(&clock);
    clock_set(&clock, 1000500);
    struct now after = clock_now(&clock);
    CHECK_EQ(after.wall_ms - before.wall_ms, 500);
    CHECK_EQ(after.mono_ms - before.mono_ms, 500);
}

static struct str nearest_of(const char *word)
{
    static const char *const names[] = {"taskType", "workerId",   "documentId", "state",
                                        "payload",  "maxRetries", "id"};
    struct nearest nearest = nearest_begin(str_of(word));
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        nearest_offer(&nearest, str_of(names[i]));
    }
    return str_absent(nearest.best) ? STR("") : nearest.best;
}

TEST(a_word_that_is_nearly_a_name_or_a_part_of_one_leads_to_it)
{
    CHECK_STR(nearest_of("type"), "taskType");
    CHECK_STR(nearest_of("worker"), "workerId");
    CHECK_STR(nearest_of("document"), "documentId");
    CHECK_STR(nearest_of("stat"), "state");
    CHECK_STR(nearest_of("paylaod"), "payload");
    CHECK_STR(nearest_of("max_retries"), "maxRetries");
    CHECK_STR(nearest_of("retries"), "maxRetries");
    CHECK_STR(nearest_of("TASKTYPE"), "taskType");
    CHECK_STR(nearest_of("colour"), "");
    CHECK_STR(nearest_of("x"), "");
    CHECK_STR(nearest_of(""), "");
    CHECK_STR(nearest_of("a-word-that-is-longer-than-any-name-there-is"), "");
}
