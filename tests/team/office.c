/* tests/team/office.c: the lead on the workbench. See office.h.
 *
 * SPDX-License-Identifier: MIT */
#include "office.h"

#include "base/mem.h"
#include "test.h"

static void ignore(void *arg)
{
    (void)arg; /* the office looks when it wants to know */
}

size_t office_heard(struct office *o, enum team_news_kind kind)
{
    struct list news;
    list_init(&news);
    channel_take(&o->news, &news);
    LIST_EACH(&news, it)
    {
        struct team_news *one = HOLDER(it, struct team_news, link);
        CHECK(one->kind > TEAM_ENDED || str_starts(str_of(one->queue), STR("team/")));
        o->told[one->kind]++;
        mem_free(one);
    }
    return o->told[kind];
}

void office_seat(struct office *o)
{
    if (o->lead == NULL) {
        channel_init(&o->news, ignore, NULL);
        o->with.news = &o->news;
        o->lead = lead_new(&o->with);
        o->guests[0] = lead_guest(o->lead);
        o->bench.with.guests = o->guests;
        o->guests[1] = o->beside;
        o->bench.with.guests_count = o->beside == NULL ? 1 : 2;
        bench_settle(&o->bench); /* it has looked which teams run */
    }
}

void office_fini(struct office *o)
{
    bench_fini(&o->bench);
    lead_free(o->lead);
    office_heard(o, TEAM_ENDED);
    channel_fini(&o->news);
}

struct lead_order office_ask(struct office *o, struct lead_order order)
{
    office_seat(o);
    struct lead_order *asked = arena_new(&o->bench.arena, struct lead_order);
    struct call *call = bench_call(&o->bench, COMMAND_GUEST);
    *asked = order;
    lead_ask(o->lead, &call->command, asked);
    bench_run(&o->bench, call);
    o->err = call->command.err;
    return *asked;
}

struct team_tasks office_tasks(struct office *o, const char *text)
{
    struct json json;
    struct team_tasks tasks = {NULL, 0};
    struct err err = ERR_INIT;
    char *copy = arena_c_text(&o->bench.arena, str_of(text));
    for (char *c = copy; *c != '\0'; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    json_start(&json, str_of(copy), &o->bench.arena);
    CHECK_OK(team_tasks_read(&json, &tasks, &err) &&
             team_tasks_check(&tasks, &o->bench.arena, &err));
    return tasks;
}

struct team office_begin(struct office *o, const char *tasks)
{
    struct team team = TEAM_INIT;
    team.prompt = STR("p");
    if (tasks != NULL) {
        team.tasks = office_tasks(o, tasks);
    }
    return office_ask(o, (struct lead_order){.verb = LEAD_CREATE, .team = team}).team;
}

struct team office_look(struct office *o, struct task_id id)
{
    struct err err = ERR_INIT;
    struct reader *reader;
    struct record record;
    struct team team;
    bool found;
    CHECK_OK(reader_open(o->bench.store, &reader, &err));
    CHECK_OK(reader_record(reader, RECORD_TEAM, id, &o->bench.arena, &found, &record, &err));
    CHECK(found);
    CHECK_OK(team_load(&record, &o->bench.arena, &team, &err));
    reader_close(reader);
    return team;
}

struct task office_take(struct office *o, const struct team *team, const char *type)
{
    const char *queue = arena_c_text(&o->bench.arena, team->queue);
    return bench_claim(&o->bench, .worker = "w", .queue = queue, .type = type);
}

void office_complete(struct office *o, const struct task *task, struct str result)
{
    struct call *call = bench_finish_call(&o->bench, task, OUTCOME_COMPLETED);
    call->command.finish.items[0].result = result;
    bench_run(&o->bench, call);
    CHECK_EQ(call->command.finish.items[0].err.kind, ERR_NONE);
}
