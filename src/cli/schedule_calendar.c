/* cli/schedule_calendar.c: a month on the terminal. See schedule.h.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "cli/schedule.h"
#include "time/wall.h"

#define TIMES_MAX 1000 /* of one schedule: the server's own limit */
#define MONTH_LEN 7    /* of "2027-03", and of the longer ones below */
#define DATE_LEN  10
#define CLOCK_AT  11
#define CLOCK_LEN 5
#define LOCAL_LEN (CLOCK_AT + CLOCK_LEN)
#define DAYS_MAX  31
#define WEEK      7

static const char *const weekdays[] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};

static struct str part(struct str text, size_t from, size_t len)
{
    return (struct str){text.ptr + from, len};
}

/* The number of a month's first day. */
static bool first_day(struct str month, int64_t *out, struct err *err)
{
    char text[32];
    int64_t wall_s;
    snprintf(text, sizeof text, STR_FMT "-01T00:00:00", STR_ARG(month));
    if (month.len != MONTH_LEN || !wall_parse(str_of(text), &wall_s, NULL)) {
        return err_set(err, ERR_INVALID, "\"" STR_FMT "\" is not a month; write 2027-03",
                       STR_ARG(month));
    }
    *out = wall_div(wall_s, WALL_DAY_S);
    return true;
}

/* 31 days after its first day it is the next month, whose first day ends this one. */
static int month_days(int64_t first)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(64);
    int64_t next = first;
    wall_write(&text, (first + DAYS_MAX) * WALL_DAY_S);
    return first_day(part(buf_view(&text), 0, MONTH_LEN), &next, NULL) ? (int)(next - first)
                                                                       : DAYS_MAX;
}

bool calendar_init(struct calendar *calendar, struct remote *remote, struct str month,
                   struct err *err)
{
    int64_t first;
    *calendar = (struct calendar){.remote = remote, .month = month};
    return str_absent(month) || first_day(month, &first, err);
}

void calendar_fini(struct calendar *calendar)
{
    mem_free(calendar->runs);
}

/* ---- Collecting ---- */

static void add_time(struct calendar *calendar, struct str id, struct str title, struct str local)
{
    struct calendar_runs *last = calendar->count == 0 ? NULL : &calendar->runs[calendar->count - 1];
    if (local.len < LOCAL_LEN) {
        return;
    }
    if (last != NULL && str_eq(last->id, id) && str_eq(last->date, part(local, 0, DATE_LEN))) {
        last->count++;
        return;
    }
    *ARRAY_PUSH(calendar->runs, calendar->count, calendar->room) =
        (struct calendar_runs){.date = part(local, 0, DATE_LEN),
                               .time = part(local, CLOCK_AT, CLOCK_LEN),
                               .count = 1,
                               .id = id,
                               .title = title};
}

bool calendar_add(struct calendar *calendar, struct str schedule, struct err *err)
{
    struct arena *arena = &calendar->remote->arena;
    struct str id = json_find_str(schedule, "id", arena), times, time;
    struct str title = json_find_str(schedule, "title", arena);
    struct json json;
    int64_t count = 0;
    if (!str_is(json_find_str(schedule, "status", arena), "ACTIVE")) {
        return true;
    }
    if (!schedule_times(calendar->remote, id, TIMES_MAX, &times, err)) {
        return false;
    }
    json_start(&json, times, arena);
    if (json_enter_array(&json, err)) {
        while (remote_item(&json, &time)) {
            add_time(calendar, id, title, json_find_str(time, "local", arena));
            count++;
        }
    }
    if (count == TIMES_MAX) {
        struct str last = calendar->runs[calendar->count - 1].date;
        bool sooner = str_absent(calendar->known) || str_cmp(last, calendar->known) < 0;
        calendar->known = sooner ? last : calendar->known;
    }
    return true;
}

/* ---- Telling ---- */

static int compare_runs(const void *a, const void *b)
{
    const struct calendar_runs *one = a, *other = b;
    int by_date = str_cmp(one->date, other->date);
    int by_time = by_date != 0 ? by_date : str_cmp(one->time, other->time);
    return by_time != 0 ? by_time : str_cmp(one->title, other->title);
}

static bool in_month(const struct calendar *calendar, const struct calendar_runs *runs)
{
    return str_starts(runs->date, calendar->month);
}

/* "2027-03-08" → 8 */
static int day_of(const struct calendar_runs *runs)
{
    return (runs->date.ptr[DATE_LEN - 2] - '0') * 10 + runs->date.ptr[DATE_LEN - 1] - '0';
}

static void print_month(const struct calendar *calendar, int64_t first)
{
    bool marked[DAYS_MAX + 1] = {false};
    int days = month_days(first);
    unsigned column = wall_weekday(first);
    for (size_t i = 0; i < calendar->count; i++) {
        if (in_month(calendar, &calendar->runs[i])) {
            marked[day_of(&calendar->runs[i])] = true;
        }
    }
    printf("%*s" STR_FMT "\n", 10, "", STR_ARG(calendar->month));
    for (size_t i = 0; i < WEEK; i++) {
        printf(" %.2s%s", weekdays[i], i + 1 < WEEK ? " " : "\n");
    }
    printf("%*s", (int)column * 4, "");
    for (int day = 1; day <= days; day++) {
        bool ends = ++column % WEEK == 0 || day == days;
        printf(" %2d%s%s", day, marked[day] ? "*" : ends ? "" : " ", ends ? "\n" : "");
    }
}

static void print_runs(const struct calendar_runs *runs, int64_t first)
{
    SCOPED(buf_fini) struct buf line = BUF_INIT(64 * KIB);
    int day = day_of(runs);
    buf_printf(&line, "%s %2d  " STR_FMT "  ", weekdays[wall_weekday(first + day - 1)], day,
               STR_ARG(runs->time));
    human_clean(&line, runs->title);
    if (runs->count > 1) {
        buf_printf(&line, "  (%lld times that day)", (long long)runs->count);
    }
    puts(buf_c_text(&line));
}

static void print_page(const struct calendar *calendar)
{
    bool any = false;
    int64_t first = 0;
    if (str_absent(calendar->month) || !first_day(calendar->month, &first, NULL)) {
        puts("nothing is going to run");
        return;
    }
    print_month(calendar, first);
    for (size_t i = 0; i < calendar->count; i++) {
        if (in_month(calendar, &calendar->runs[i])) {
            fputs(any ? "" : "\n", stdout);
            print_runs(&calendar->runs[i], first);
            any = true;
        }
    }
    puts(any ? "" : "\nnothing is going to run in this month");
    if (!str_absent(calendar->known) &&
        str_cmp(part(calendar->known, 0, MONTH_LEN), calendar->month) <= 0) {
        printf("Of each schedule the next %d runs are shown.\n", TIMES_MAX);
    }
}

static void print_json(const struct calendar *calendar)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(64 * MIB);
    struct json_writer w = JSON_WRITER(&text);
    json_open_array(&w);
    for (size_t i = 0; i < calendar->count; i++) {
        const struct calendar_runs *runs = &calendar->runs[i];
        if (in_month(calendar, runs)) {
            json_open_object(&w);
            json_put_str(&w, "date", runs->date);
            json_put_str(&w, "time", runs->time);
            json_put_i64(&w, "count", runs->count);
            json_put_str(&w, "scheduleId", runs->id);
            json_put_str(&w, "title", runs->title);
            json_close_object(&w);
        }
    }
    json_close_array(&w);
    puts(buf_c_text(&text));
}

void calendar_print(struct calendar *calendar)
{
    if (calendar->count > 0) {
        qsort(calendar->runs, calendar->count, sizeof *calendar->runs, compare_runs);
    }
    if (str_absent(calendar->month) && calendar->count > 0) {
        calendar->month = part(calendar->runs[0].date, 0, MONTH_LEN);
    }
    if (calendar->remote->json) {
        print_json(calendar);
    } else {
        print_page(calendar);
    }
}
