/* net/on_usage.c: what runs have cost, added up page by page.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "base/map.h"
#include "net/on.h"
#include "net/schedule_in.h"
#include "net/task_out.h"
#include "schedule/usage.h"
#include "wire/time.h"

#define PAGE        2000 /* records read at once */
#define TIME_SCHEMA "{\"type\":\"string\",\"description\":\"a time, or a day, UTC\"}"

struct part { /* of one schedule */
    struct map_node node;
    struct task_id schedule;
    struct usage usage;
    struct part *next;
};

struct usage_in {
    struct str user;
    int64_t from_ms, to_ms;
    struct query *query;
    struct arena page; /* of the records that were just read */
    struct map parts;
    struct part *first, **last; /* in the order they were met */
    struct usage sum;
};

/* ---- The question ---- */

/* A time, or a day, UTC. */
static bool take_time(const struct form_row *row, struct str value, void *into, struct err *err)
{
    struct err why = ERR_INIT;
    char day[TIME_TEXT_LEN + 1];
    if (value.len == strlen("2027-03-01")) {
        snprintf(day, sizeof day, STR_FMT "T00:00:00Z", STR_ARG(value));
        value = str_of(day);
    }
    return time_parse(value, (int64_t *)((char *)into + row->at), &why) ||
           err_field(err, row->name.ptr, "%s: %s", row->name.ptr, why.text);
}

static const struct form_hook time_hook = {.text = take_time};

static const struct form_row rows[] = {
    FORM_ROW("userId", struct usage_in, user, FORM_TEXT, FORM_SET,
             .about = "Runs of this user's schedules."),
    FORM_ROW("from", struct usage_in, from_ms, FORM_HOOK, FORM_SET, .hook = &time_hook,
             .schema = TIME_SCHEMA, .about = "Runs that ended from then on."),
    FORM_ROW("to", struct usage_in, to_ms, FORM_HOOK, FORM_SET, .hook = &time_hook,
             .schema = TIME_SCHEMA, .about = "And before then."),
};
const struct form usage_form = FORM(rows);

/* ---- Adding up ---- */

static struct part *part_of(struct call *call, struct usage_in *in, struct task_id schedule)
{
    uint64_t hash = id_hash(schedule);
    for (struct map_node *n = map_find(&in->parts, hash); n != NULL; n = map_again(n)) {
        struct part *part = HOLDER(n, struct part, node);
        if (id_eq(part->schedule, schedule)) {
            return part;
        }
    }
    struct part *part = arena_new(call->arena, struct part);
    part->schedule = schedule;
    map_add(&in->parts, &part->node, hash);
    *in->last = part;
    in->last = &part->next;
    return part;
}

/* ---- The answer ---- */

static void put_usage(struct json_writer *w, const struct usage *usage)
{
    json_put_f64(w, "queries", usage->queries);
    json_put_f64(w, "tokens", usage->tokens);
}

static void end(struct usage_in *in)
{
    arena_fini(&in->page);
    map_fini(&in->parts);
}

static void answer(struct call *call)
{
    struct usage_in *in = call->own;
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    put_usage(&w, &in->sum);
    json_put_array(&w, "bySchedule");
    for (const struct part *part = in->first; part != NULL; part = part->next) {
        json_open_object(&w);
        id_put(&w, "scheduleId", part->schedule);
        put_usage(&w, &part->usage);
        json_close_object(&w);
    }
    json_close_array(&w);
    json_close_object(&w);
    end(in);
    call_answer(call, 200);
}

static void on_page(struct call *call)
{
    struct usage_in *in = call->own;
    const struct records *page = &in->query->records;
    for (size_t i = 0; i < page->count; i++) {
        struct usage usage = usage_read(&page->at[i], &in->page);
        struct part *part = part_of(call, in, usage.schedule);
        part->usage.queries += usage.queries;
        part->usage.tokens += usage.tokens;
        in->sum.queries += usage.queries;
        in->sum.tokens += usage.tokens;
    }
    if (!page->more || page->count == 0) {
        answer(call);
        return;
    }
    in->query->record_filter.after = page->at[page->count - 1].id;
    arena_clear(&in->page);
    call_ask(call, in->query);
}

static void on_failed(struct call *call)
{
    end(call->own);
    call_fail(call, &call->failure);
}

bool on_usage_show(struct call *call, struct err *err)
{
    struct usage_in *in = arena_new(call->arena, struct usage_in);
    if (!call_asked(call, &usage_form, in, err) ||
        !call_choose_user(call, "what its own user spent", &in->user, err)) {
        return false;
    }
    in->last = &in->first;
    in->query = call_query(call, QUERY_RECORDS);
    in->query->arena = &in->page;
    in->query->record_filter = (struct record_filter){
        .kind = RECORD_USAGE,
        .owner = in->user,
        .marks = 1u << USAGE_RUN,
        .at_from_ms = in->from_ms,
        .at_before_ms = in->to_ms,
        .oldest_first = true,
        .limit = PAGE,
    };
    call->own = in;
    call->done = on_page;
    call->failed = on_failed;
    call_ask(call, in->query);
    return true;
}
