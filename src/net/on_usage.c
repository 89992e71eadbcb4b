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
#define WORD_SCHEMA "{\"type\":\"string\",\"minLength\":1}"
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

static bool set_user(void *into, struct str value, struct err *err)
{
    (void)err;
    ((struct usage_in *)into)->user = value;
    return true;
}

static bool read_time(const char *name, struct str value, int64_t *out, struct err *err)
{
    struct err why = ERR_INIT;
    char day[TIME_TEXT_LEN + 1];
    if (value.len == strlen("2027-03-01")) {
        snprintf(day, sizeof day, STR_FMT "T00:00:00Z", STR_ARG(value));
        value = str_of(day);
    }
    return time_parse(value, out, &why) || err_field(err, name, "%s: %s", name, why.text);
}

static bool set_from(void *into, struct str value, struct err *err)
{
    return read_time("from", value, &((struct usage_in *)into)->from_ms, err);
}

static bool set_to(void *into, struct str value, struct err *err)
{
    return read_time("to", value, &((struct usage_in *)into)->to_ms, err);
}

static const struct param table[] = {
    PARAM("userId", set_user, WORD_SCHEMA, "Runs of this user's schedules."),
    PARAM("from", set_from, TIME_SCHEMA, "Runs that ended from then on."),
    PARAM("to", set_to, TIME_SCHEMA, "And before then."),
};
const struct params usage_params = {table, ARRAY_LEN(table)};

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

static void add(struct call *call, struct usage_in *in, const struct record *record)
{
    struct usage usage = usage_read(record, &in->page);
    struct part *part = part_of(call, in, usage.schedule);
    part->usage.queries += usage.queries;
    part->usage.tokens += usage.tokens;
    in->sum.queries += usage.queries;
    in->sum.tokens += usage.tokens;
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
        add(call, in, &page->at[i]);
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
    struct str own = call_user(call);
    if (!call_params(call, usage_params, in, err)) {
        return false;
    }
    if (!str_absent(own) && !str_absent(in->user) && !str_eq(own, in->user)) {
        return err_set(err, ERR_FORBIDDEN, "this token may only see what its own user spent");
    }
    in->last = &in->first;
    in->query = call_query(call, QUERY_RECORDS);
    in->query->arena = &in->page;
    in->query->record_filter = (struct record_filter){
        .kind = RECORD_USAGE,
        .owner = str_absent(own) ? in->user : own,
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
