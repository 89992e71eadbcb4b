/* net/on_schedule_look.c: schedules as they are, when they will run, and what a wish would become.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "english/summary.h"
#include "net/filter_in.h"
#include "net/on.h"
#include "net/schedule_in.h"
#include "net/schedule_out.h"

#define PREVIEW_TIMES  5
#define NEXT_TIMES     10
#define NEXT_TIMES_MAX 1000
#define SUMMARY_MAX    (4 * KIB)

/* ---- Lists ---- */

struct list_in {
    unsigned statuses, categories;
    struct str user;
    size_t limit;
    struct task_id before;
};

/* clang-format off */
static const struct form_row list_rows[] = {
    FORM_ROW("status", struct list_in, statuses, FORM_WORDS, FORM_SET, .words = schedule_statuses,
             .about = "One status or several, comma separated."),
    FORM_ROW("category", struct list_in, categories, FORM_WORDS, FORM_SET, .words = schedule_categories,
             .about = "One category or several, comma separated."),
    FORM_ROW("userId", struct list_in, user, FORM_TEXT, FORM_SET, .about = "Schedules of this user."),
    LIMIT_ROW(struct list_in, limit, "Schedules on a page."),
    CURSOR_ROW(struct list_in, before),
};
/* clang-format on */
const struct form schedule_list_form = FORM(list_rows);

static void answer_list(struct call *call)
{
    const struct records *found = &((struct query *)call->own)->records;
    struct json_writer w = call_writer(call);
    json_open_array(&w);
    for (size_t i = 0; i < found->count; i++) {
        struct schedule schedule;
        if (schedule_load(&found->at[i], call->arena, &schedule, &call->failure)) {
            schedule_write(&w, &schedule, call->api, true);
        }
    }
    json_close_array(&w);
    call_answer_page(call, found->more, found->count > 0 ? &found->at[found->count - 1].id : NULL);
}

bool on_schedule_list(struct call *call, struct err *err)
{
    struct list_in in = {.limit = LIST_LIMIT_DEFAULT};
    if (!call_asked(call, &schedule_list_form, &in, err) ||
        !call_choose_user(call, "schedules of its own user", &in.user, err)) {
        return false;
    }
    struct query *query = call_query(call, QUERY_RECORDS);
    query->record_filter = (struct record_filter){
        .kind = RECORD_SCHEDULE,
        .owner = in.user,
        .marks = schedule_marks(in.statuses, in.categories),
        .before = in.before,
        .limit = in.limit,
    };
    call->own = query;
    call->done = answer_list;
    call_ask(call, query);
    return true;
}

/* ---- One ---- */

/* The schedule that a query brought, if the asker may see it. */
static bool take_schedule(struct call *call, const struct query *query, struct schedule *out,
                          struct err *err)
{
    struct str own = call_user(call);
    if (!query->found || (!str_absent(own) && !str_eq(own, query->record.owner))) {
        return err_set(err, ERR_NOT_FOUND, "there is no such schedule");
    }
    return schedule_load(&query->record, call->arena, out, err);
}

static bool ask_schedule(struct call *call, void (*done)(struct call *call), struct err *err)
{
    struct task_id id;
    if (!id_parse(call->name, &id) || id_none(id)) {
        return err_set(err, ERR_NOT_FOUND, "there is no such schedule");
    }
    struct query *query = call_query(call, QUERY_RECORD);
    query->record_filter.kind = RECORD_SCHEDULE;
    query->id = id;
    call->own = query;
    call->done = done;
    call_ask(call, query);
    return true;
}

static void answer_show(struct call *call)
{
    struct schedule schedule;
    if (!take_schedule(call, call->own, &schedule, &call->failure)) {
        call_fail(call, &call->failure);
        return;
    }
    struct json_writer w = call_writer(call);
    schedule_write(&w, &schedule, call->api, false);
    call_answer(call, 200);
}

bool on_schedule_show(struct call *call, struct err *err)
{
    return call_asked(call, NULL, NULL, err) && ask_schedule(call, answer_show, err);
}

/* ---- Its next times ---- */

struct next_in {
    struct query *query;
    int64_t n;
};

static const struct form_row next_rows[] = {
    FORM_ROW("n", struct next_in, n, FORM_I64, FORM_SET | FORM_DEFAULT, .min = 1,
             .max = NEXT_TIMES_MAX, .standard = NEXT_TIMES, .about = "How many times."),
};
const struct form schedule_next_form = FORM(next_rows);

/* The wall clock's time with its offset: 2027-03-01T09:00:00+01:00. */
static void put_local(struct json_writer *w, const struct zone *zone, int64_t utc_ms)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(64);
    int64_t utc_s = wall_div(utc_ms, SECOND_MS), wall_s = zone_wall(zone, utc_s);
    int64_t offset = wall_s - utc_s, minutes = (offset < 0 ? -offset : offset) / 60;
    wall_write(&text, wall_s);
    buf_printf(&text, "%c%02d:%02d", offset < 0 ? '-' : '+', (int)(minutes / 60),
               (int)(minutes % 60));
    json_put_str(w, "local", buf_view(&text));
}

static void write_next(struct json_writer *w, const struct plan *plan, const int64_t *times,
                       size_t count)
{
    json_open_array(w);
    for (size_t i = 0; i < count; i++) {
        json_open_object(w);
        json_put_time(w, "utc", times[i]);
        put_local(w, plan->zone, times[i]);
        json_close_object(w);
    }
    json_close_array(w);
}

static void answer_next(struct call *call)
{
    const struct next_in *in = call->own;
    struct schedule schedule;
    SCOPED(plan_close) struct plan plan = {0};
    if (!take_schedule(call, in->query, &schedule, &call->failure) ||
        !plan_open(&schedule, planner_zones(call->api->parts.planner), call->arena, &plan,
                   &call->failure)) {
        call_fail(call, &call->failure);
        return;
    }
    int64_t *times = arena_array(call->arena, int64_t, (size_t)in->n);
    int64_t now_ms = clock_now(call->api->options.clock).wall_ms;
    size_t count = recur_list(plan.recur, now_ms, (size_t)in->n, times);
    struct json_writer w = call_writer(call);
    write_next(&w, &plan, times, count);
    call_answer(call, 200);
}

bool on_schedule_next(struct call *call, struct err *err)
{
    struct next_in *in = arena_new(call->arena, struct next_in);
    in->n = NEXT_TIMES;
    if (!call_asked(call, &schedule_next_form, in, err) || !ask_schedule(call, answer_next, err)) {
        return false;
    }
    in->query = call->own;
    call->own = in;
    return true;
}

/* ---- Previews ---- */

static void put_text(struct json_writer *w, const char *key, struct str text)
{
    if (!str_absent(text)) {
        json_put_str(w, key, text);
    }
}

static void put_texts(struct json_writer *w, const char *key, const struct form_texts *texts)
{
    if (texts->count == 0) {
        return;
    }
    json_put_array(w, key);
    for (size_t i = 0; i < texts->count; i++) {
        json_add_str(w, texts->at[i]);
    }
    json_close_array(w);
}

/* What each part of the text was taken for. */
static void put_words(struct json_writer *w, const struct schedule_in *in)
{
    json_put_array(w, "words");
    for (size_t from = 0; from < in->words_count;) {
        size_t to = english_run_end(in->words, in->words_count, from);
        json_open_object(w);
        json_put_str(w, "text", english_run_text(in->words, from, to));
        json_put_c(w, "as", english_role_name(in->words[from].role));
        json_close_object(w);
        from = to;
    }
    json_close_array(w);
}

static void put_preview(struct json_writer *w, const struct schedule *schedule,
                        const struct plan *plan, int64_t now_ms)
{
    int64_t times[PREVIEW_TIMES];
    size_t count = recur_list(plan->recur, now_ms, PREVIEW_TIMES, times);
    SCOPED(buf_fini) struct buf summary = BUF_INIT(SUMMARY_MAX);
    json_put_c(w, "mode", "TASK_CREATION");
    json_put_str(w, "title", schedule->title);
    json_put_c(w, "category", schedule_categories[schedule->category]);
    json_put_bool(w, "isOneTime", schedule->one_time);
    put_text(w, "rrule", schedule->rrule);
    put_text(w, "dtstart", schedule->dtstart);
    put_text(w, "timezone", schedule->timezone);
    put_texts(w, "exdates", &schedule->exdates);
    put_texts(w, "rdates", &schedule->rdates);
    json_put_array(w, "next");
    for (size_t i = 0; i < count; i++) {
        json_add_time(w, times[i]);
    }
    json_close_array(w);
    summary_write(&summary, &plan->order);
    json_put_str(w, "summary", buf_view(&summary));
}

static void answer_preview(struct call *call, struct schedule_in *in)
{
    struct err err = ERR_INIT;
    SCOPED(plan_close) struct plan plan = {0};
    if (!plan_open(&in->schedule, planner_zones(call->api->parts.planner), call->arena, &plan,
                   &err)) {
        call_fail(call, &err);
        return;
    }
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    put_preview(&w, &in->schedule, &plan, in->now_ms);
    if (in->words_count > 0) {
        put_words(&w, in);
    }
    json_close_object(&w);
    call_answer(call, 200);
}

static const struct form_row preview_rows[] = {
    FORM_ROW("tolerant", struct schedule_in, tolerant, FORM_BOOL, FORM_SET,
             .about =
                 "Answer a refusal with 200 and the mode REFUSAL: for pages that ask with every "
                 "letter, whose browsers complain of each 4xx."),
};
const struct form schedule_preview_form = FORM(preview_rows);

bool on_schedule_preview(struct call *call, struct err *err)
{
    struct schedule_in *in = arena_new(call->arena, struct schedule_in);
    in->preview = true;
    in->ready = answer_preview;
    if (!call_asked(call, &schedule_preview_form, in, err)) {
        return false;
    }
    bool ok = schedule_in_read(call, in, err);
    bool refusal = !ok && in->tolerant && (err->kind == ERR_INVALID || err->kind == ERR_REFUSED);
    if (refusal) {
        schedule_refuse(call, 200, err, &in->refusal);
    }
    return ok || refusal;
}
