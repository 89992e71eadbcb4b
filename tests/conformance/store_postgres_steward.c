/* tests/conformance/store_postgres_steward.c: nodes, their leader and their messages, and the walks
 * of the fleet.
 *
 * SPDX-License-Identifier: MIT */
#include "store_postgres_pair.h"

TEST(one_leads_and_its_epoch_fences_the_late)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct err err = ERR_INIT;
    uint64_t one = 0, two = 0, epoch = 0;
    struct str owner;
    bool leads = true;
    CHECK_OK(steward_leader(p.steward, &p.b.arena, &owner, &epoch, &err));
    CHECK(str_absent(owner));
    CHECK_OK(steward_lead(p.steward, STR("one"), 60000, false, &one, &err));
    CHECK_OK(steward_lead(p.steward, STR("one"), 60000, false, &epoch, &err));
    CHECK(one > 0 && epoch == one);
    CHECK_OK(steward_lead(p.steward, STR("two"), 60000, false, &two, &err));
    CHECK_EQ(two, 0);
    CHECK_OK(steward_lead(p.steward, STR("two"), 60000, true, &two, &err));
    CHECK_EQ(two, one + 1);
    CHECK_OK(steward_leader(p.steward, &p.b.arena, &owner, &epoch, &err));
    CHECK_STR(owner, "two");
    CHECK_EQ(epoch, two);
    SCOPED(tx_close) struct tx *tx = pair_begin(p.b.store);
    CHECK_OK(tx_leads(tx, STR("one"), one, &leads, &err));
    CHECK(!leads);
    CHECK_OK(tx_leads(tx, STR("two"), two, &leads, &err));
    CHECK(leads);
    CHECK_OK(tx_leads(tx, STR("one"), two, &leads, &err)); /* an epoch that was counted twice */
    CHECK(!leads);
    tx_close(&tx);
    CHECK_OK(steward_resign(p.steward, STR("one"), one, &err)); /* too late: changes nothing */
    CHECK_OK(steward_resign(p.steward, STR("two"), two, &err));
    CHECK_OK(steward_lead(p.steward, STR("one"), 0, false, &epoch, &err));
    CHECK_EQ(epoch, two + 1);
    CHECK_OK(steward_lead(p.steward, STR("two"), 60000, false, &epoch, &err)); /* it had ended */
    CHECK_EQ(epoch, two + 2);
}

TEST(nodes_are_seen_until_they_leave_or_die)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct err err = ERR_INIT;
    struct steward_node *nodes = NULL, one = {.id = STR("one"), .body = STR("{}")},
                        two = {.id = STR("two"), .body = STR("{\"a\":1}")};
    size_t count = 0;
    int64_t now_ms = 0;
    CHECK_OK(steward_beat(p.steward, &one, 0, &err));
    CHECK_OK(steward_beat(p.steward, &two, 0, &err));
    CHECK_OK(steward_now(p.steward, &now_ms, &err));
    CHECK_OK(steward_nodes(p.steward, &p.b.arena, &nodes, &count, &err));
    CHECK_EQ(count, 2);
    CHECK_STR(nodes[1].body, "{\"a\":1}");
    CHECK(nodes[1].seen_ms <= now_ms && nodes[1].seen_ms > now_ms - 60000);
    CHECK_OK(steward_leave(p.steward, STR("two"), &err));
    CHECK_OK(steward_beat(p.steward, &two, now_ms + 60000, &err)); /* even itself */
    CHECK_OK(steward_nodes(p.steward, &p.b.arena, &nodes, &count, &err));
    CHECK_EQ(count, 0);
    check_healthy(&p.b);
}

static void schedule_at(struct pair *p, int64_t at_ms)
{
    struct task task = bench_task(&p->b);
    task.state = TASK_SCHEDULED;
    task.scheduled_ms = at_ms;
    bench_insert(&p->b, &task);
}

TEST(a_walk_sees_everything_that_falls_due_once)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct err err = ERR_INIT;
    struct steward_due due[2], last = {.due_ms = INT64_MIN};
    size_t count = 2, seen = 0;
    int64_t now_ms = p.b.now_ms;
    for (int i = 0; i < 5; i++) {
        schedule_at(&p, now_ms + 1000 + i % 2); /* some fall due together */
    }
    schedule_at(&p, now_ms + 900000);
    struct task expires = bench_task(&p.b), runs = bench_task(&p.b);
    expires.expires_ms = now_ms + 500;
    bench_insert(&p.b, &expires);
    bench_insert(&p.b, &runs);
    bench_start(&p.b, &runs); /* its lease ends after a minute, its time-out comes later */
    while (count == 2) {
        CHECK_OK(
            steward_due(p.steward, now_ms + 60000, last.due_ms, last.id, 2, due, &count, &err));
        for (size_t i = 0; i < count; i++) {
            CHECK(due[i].due_ms >= last.due_ms && !id_eq(due[i].id, last.id));
            last = due[i];
            seen++;
        }
    }
    CHECK_EQ(seen, 7);
    CHECK(id_eq(last.id, runs.id));
    CHECK_EQ(last.due_ms, now_ms + TASK_LEASE_DEFAULT_MS);
}

TEST(a_broker_can_be_filled_from_the_rows)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct err err = ERR_INIT;
    struct hint hints[2];
    struct steward_held held[2];
    struct task_id after = TASK_ID_NONE;
    size_t count = 2, seen = 0;
    char text[TASK_LEASE_TEXT];
    struct task runs = pair_queued(&p, "a", "t", TASK_NORMAL, "d");
    bench_start(&p.b, &runs);
    struct brood brood;
    bench_brood(&p.b, &brood, "e");
    bench_start(&p.b, &brood.child[1]);
    pair_queued(&p, "a", "t", TASK_NORMAL, NULL);
    while (count == 2) {
        CHECK_OK(steward_queued(p.steward, after, 2, &p.b.arena, hints, &count, &err));
        after = count == 0 ? after : hints[count - 1].id;
        seen += count;
    }
    CHECK_EQ(seen, 3); /* two children and a task; containers are not offered */
    CHECK_OK(steward_held(p.steward, STR_NONE, 1, &p.b.arena, held, &count, &err));
    CHECK_EQ(count, 1);
    CHECK_STR(held[0].document, "d");
    CHECK(id_eq(held[0].holder, runs.id));
    CHECK(str_eq(held[0].lock, task_lease_text((struct task_lease){1, runs.token}, text)));
    char id[TASK_ID_TEXT];
    CHECK_OK(steward_held(p.steward, STR("d"), 2, &p.b.arena, held, &count, &err));
    CHECK_EQ(count, 1);
    CHECK(id_eq(held[0].holder, brood.top.id));
    CHECK(str_eq(held[0].lock, id_text(brood.top.id, id)));
}

TEST(a_node_finds_its_own_attempts_that_are_to_be_cancelled)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct err err = ERR_INIT;
    static const char *const workers[] = {"errand:run:1@n1", "errand:run:1@n2", "n1", "x@n1"};
    struct task tasks[4];
    struct task_id *ids = NULL;
    size_t count = 0;
    for (size_t i = 0; i < 4; i++) {
        tasks[i] = bench_task(&p.b);
        struct task_claim claim = {str_of(workers[i]), 1000, 1};
        CHECK_OK(task_start(&tasks[i], &claim, p.b.now_ms, &err));
        tasks[i].cancel_requested = i < 3;
        bench_insert(&p.b, &tasks[i]);
    }
    CHECK_OK(steward_cancelled(p.steward, STR("n1"), &p.b.arena, &ids, &count, &err));
    CHECK_EQ(count, 1);
    CHECK(id_eq(ids[0], tasks[0].id));
}

TEST(messages_are_heard_once_in_their_order)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct err err = ERR_INIT;
    struct steward_message said[] = {{.from = STR("a"), .body = STR("1")},
                                     {.from = STR("a"), .body = STR("2")},
                                     {.from = STR("b"), .body = STR("")}},
                           heard[3];
    size_t count = 0;
    CHECK_OK(steward_tell(p.steward, said, 3, &err));
    CHECK_OK(steward_hear(p.steward, 0, 2, &p.b.arena, heard, &count, &err));
    CHECK_EQ(count, 2);
    CHECK_STR(heard[0].body, "1");
    CHECK_STR(heard[1].from, "a");
    CHECK(heard[0].number < heard[1].number);
    CHECK_OK(steward_hear(p.steward, heard[1].number, 2, &p.b.arena, heard, &count, &err));
    CHECK_EQ(count, 1);
    CHECK_STR(heard[0].from, "b");
    CHECK_OK(steward_forget(p.steward, 60000, &err));
    CHECK_OK(steward_hear(p.steward, 0, 3, &p.b.arena, heard, &count, &err));
    CHECK_EQ(count, 3);
    CHECK_OK(steward_forget(p.steward, -60000, &err));
    CHECK_OK(steward_hear(p.steward, 0, 3, &p.b.arena, heard, &count, &err));
    CHECK_EQ(count, 0);
}

static struct steward_stamp stamp_of(struct pair *p)
{
    struct err err = ERR_INIT;
    struct steward_stamp stamp = {0};
    CHECK_OK(steward_tokens_stamp(p->steward, &stamp, &err));
    return stamp;
}

static bool stamp_eq(struct steward_stamp a, struct steward_stamp b)
{
    return a.newest == b.newest && a.count == b.count;
}

static bool token_added(struct pair *p, const char *id, size_t most)
{
    struct err err = ERR_INIT;
    const struct steward_token token = {.id = str_of(id), .line = STR("a\tb")};
    bool added = false;
    CHECK_OK(steward_token_add(p->steward, &token, most, &added, &err));
    return added;
}

TEST(tokens_are_listed_until_they_are_taken_back_and_every_change_shows_in_their_stamp)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct err err = ERR_INIT;
    struct steward_token *tokens = NULL;
    size_t count = 9;
    bool dropped = true;
    struct steward_stamp none = stamp_of(&p);
    CHECK_EQ(none.count, 0);
    CHECK(token_added(&p, "z", 2) && token_added(&p, "a", 2) && !token_added(&p, "b", 2));
    struct steward_stamp two = stamp_of(&p);
    CHECK_OK(steward_tokens(p.steward, &p.b.arena, &tokens, &count, &err));
    CHECK_EQ(count, 2);
    CHECK_STR(tokens[0].id, "z"); /* the oldest */
    CHECK_STR(tokens[1].line, "a\tb");
    CHECK_OK(steward_token_drop(p.steward, STR("y"), &dropped, &err));
    CHECK(!dropped && stamp_eq(stamp_of(&p), two));
    CHECK_OK(steward_token_drop(p.steward, STR("a"), &dropped, &err));
    CHECK(dropped && !stamp_eq(stamp_of(&p), two));
    CHECK(token_added(&p, "c", 2) && !stamp_eq(stamp_of(&p), two)); /* as many as before */
}
