/* cli/schedule_look.c: `errand schedules`, and one schedule: show, next, history.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "cli/schedule_calendar.h"
#include "wire/uri.h"

#define PAGE_MAX       500 /* the server's own limit */
#define NEXT_MAX       1000
#define CONTENT_COLUMN 60

struct look {
    struct remote_options remote;
    struct str status, user, category, month;
    bool calendar;
    int64_t n, limit;
};

static const struct look look_defaults = {.n = 10, .limit = 50};

/* ---- Lists ---- */

/* What is done with each item of a list. */
struct lister {
    struct remote *remote;
    struct table *table; /* NULL: no table */
    struct calendar *calendar;
    struct paper paper;
    int64_t left;
    bool first;
    bool (*take)(struct lister *lister, struct str item, struct err *err);
};

static bool take_json(struct lister *lister, struct str item, struct err *err)
{
    (void)err;
    printf("%s" STR_FMT, lister->first ? "[" : ",\n", STR_ARG(item));
    return true;
}

static bool take_page(struct lister *lister, struct str page, struct err *err)
{
    struct json json;
    struct str item;
    bool ok = true;
    json_start(&json, page, &lister->remote->arena);
    if (!json_enter_array(&json, err)) {
        return false;
    }
    while (ok && lister->left > 0 && remote_item(&json, &item)) {
        ok = lister->take(lister, item, err);
        lister->first = false;
        lister->left--;
    }
    return ok;
}

static bool take_pages(struct lister *lister, struct str path, struct err *err)
{
    while (lister->left > 0 && !str_absent(path)) {
        const struct client_call call = {.method = "GET", .path = path};
        struct client_answer answer;
        if (!remote_call_whole(lister->remote, &call, &answer, err) ||
            !take_page(lister, answer.body, err)) {
            return false;
        }
        path = remote_next_page(&answer);
    }
    return true;
}

/* A table for people, or all of it as one array. */
static enum exit_status list(struct remote *remote, struct str path, int64_t limit,
                             const char *const *heads,
                             bool (*take)(struct lister *, struct str, struct err *))
{
    SCOPED(table_fini) struct table table;
    struct err err = ERR_INIT;
    struct lister lister = {.remote = remote,
                            .table = &table,
                            .paper = paper_stdout(),
                            .left = limit,
                            .first = true,
                            .take = remote->json ? take_json : take};
    table_init(&table, heads, &remote->arena);
    if (!take_pages(&lister, path, &err)) {
        return verb_fail(&err);
    }
    if (remote->json) {
        puts(lister.first ? "[]" : "]");
    } else {
        table_print(&table, &lister.paper);
    }
    return EXIT_OK;
}

/* ---- Schedules ---- */

static bool take_schedule(struct lister *lister, struct str schedule, struct err *err)
{
    struct arena *arena = &lister->remote->arena;
    SCOPED(buf_fini) struct buf summary = BUF_INIT(64 * KIB);
    SCOPED(buf_fini) struct buf next = BUF_INIT(KIB);
    (void)err;
    schedule_summary(lister->remote, schedule, &summary);
    human_when(&next, &lister->paper, json_find_str(schedule, "nextExecutionTime", arena));
    table_add(lister->table, json_find_str(schedule, "id", arena));
    table_add(lister->table, json_find_str(schedule, "status", arena));
    table_add(lister->table, json_find_str(schedule, "title", arena));
    table_add(lister->table, buf_view(&summary));
    table_add(lister->table, buf_view(&next));
    table_add(lister->table, json_find_str(schedule, "userId", arena));
    return true;
}

static bool take_into_calendar(struct lister *lister, struct str schedule, struct err *err)
{
    return calendar_add(lister->calendar, schedule, err);
}

static void add_query(struct buf *path, const char *name, struct str value)
{
    if (!str_absent(value)) {
        buf_printf(path, "&%s=", name);
        uri_encode(path, value);
    }
}

static enum exit_status show_calendar(struct remote *remote, struct str path,
                                      const struct look *look)
{
    SCOPED(calendar_fini) struct calendar calendar;
    struct err err = ERR_INIT;
    struct lister lister = {
        .remote = remote, .calendar = &calendar, .left = INT64_MAX, .take = take_into_calendar};
    if (!calendar_init(&calendar, remote, look->month, &err)) {
        return verb_usage(&err);
    }
    if (!take_pages(&lister, path, &err)) {
        return verb_fail(&err);
    }
    calendar_print(&calendar);
    return EXIT_OK;
}

static enum exit_status run_schedules(const void *options, const struct words *words)
{
    static const char *const heads[] = {"ID", "STATUS", "TITLE", "WHEN", "NEXT", "USER", NULL};
    const struct look *look = options;
    SCOPED(remote_close) struct remote remote = {.client = NULL};
    SCOPED(buf_fini) struct buf path = BUF_INIT(64 * KIB);
    struct err err = ERR_INIT;
    (void)words;
    buf_printf(&path, "/api/schedules?limit=%lld", (long long)MIN(look->limit, PAGE_MAX));
    add_query(&path, "status", look->status);
    add_query(&path, "userId", look->user);
    add_query(&path, "category", look->category);
    if (!remote_open(&remote, &look->remote, &err)) {
        return verb_fail(&err);
    }
    if (look->calendar || !str_absent(look->month)) {
        return show_calendar(&remote, buf_view(&path), look);
    }
    return list(&remote, buf_view(&path), look->limit, heads, take_schedule);
}

/* ---- One schedule ---- */

static void print_fields(struct remote *remote, struct str schedule)
{
    static const struct {
        const char *name, *key;
    } fields[] = {
        {"title", "title"},       {"id", "id"},
        {"status", "status"},     {"because", "pausedReason"},
        {"rule", "rrule"},        {"start", "dtstart"},
        {"timezone", "timezone"}, {"user", "userId"},
        {"category", "category"}, {"purpose", "purpose"},
        {"type", "taskType"},     {"queue", "queue"},
        {"priority", "priority"}, {"overlap", "overlap"},
        {"misfire", "misfire"},   {"last run", "lastExecutionTime"},
    };
    static const char *const raws[] = {"payload", "delivery", "exdates"};
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        schedule_print_line(fields[i].name, json_find_str(schedule, fields[i].key, &remote->arena));
    }
    for (size_t i = 0; i < ARRAY_LEN(raws); i++) {
        struct str raw = json_find(schedule, raws[i], &remote->arena);
        schedule_print_line(raws[i], str_is(raw, "[]") || str_is(raw, "null") ? STR_NONE : raw);
    }
}

static bool print_schedule(struct remote *remote, struct str schedule, struct err *err)
{
    SCOPED(calendar_fini) struct calendar calendar;
    SCOPED(buf_fini) struct buf summary = BUF_INIT(64 * KIB);
    struct str id = json_find_str(schedule, "id", &remote->arena), times;
    schedule_summary(remote, schedule, &summary);
    printf(STR_FMT "\n", STR_ARG(buf_view(&summary)));
    print_fields(remote, schedule);
    if (!calendar_init(&calendar, remote, STR_NONE, err) ||
        !calendar_add(&calendar, schedule, err)) {
        return false;
    }
    if (calendar.count > 0) {
        if (!schedule_times(remote, id, SCHEDULE_NEXT_COUNT, &times, err)) {
            return false;
        }
        schedule_print_times(remote, times);
        putchar('\n');
        calendar_print(&calendar);
    }
    return true;
}

/* Gets something of one schedule and prints it. */
static enum exit_status ask(const struct look *look, struct str id, const char *after,
                            bool (*print)(struct remote *, struct str, struct err *))
{
    SCOPED(remote_close) struct remote remote = {.client = NULL};
    struct err err = ERR_INIT;
    struct str answer;
    if (!remote_open(&remote, &look->remote, &err) ||
        !remote_call(&remote, "GET", remote_path(&remote, "/api/schedules/", id, after), STR_NONE,
                     &answer, &err)) {
        return verb_fail(&err);
    }
    if (remote.json) {
        printf(STR_FMT "\n", STR_ARG(answer));
        return EXIT_OK;
    }
    return print(&remote, answer, &err) ? EXIT_OK : verb_fail(&err);
}

static enum exit_status run_show(const void *options, const struct words *words)
{
    return ask(options, words->at[0], "", print_schedule);
}

static bool print_times(struct remote *remote, struct str times, struct err *err)
{
    struct json json;
    struct str time;
    json_start(&json, times, &remote->arena);
    if (!json_enter_array(&json, err)) {
        return false;
    }
    while (remote_item(&json, &time)) {
        struct str local = json_find_str(time, "local", &remote->arena);
        SCOPED(buf_fini) struct buf line = BUF_INIT(KIB);
        human_clean(&line, local);
        puts(buf_c_text(&line));
    }
    return true;
}

static enum exit_status run_next(const void *options, const struct words *words)
{
    char after[32];
    snprintf(after, sizeof after, "/next?n=%lld", (long long)((const struct look *)options)->n);
    return ask(options, words->at[0], after, print_times);
}

/* ---- History ---- */

static bool take_execution(struct lister *lister, struct str execution, struct err *err)
{
    static const char *const times[] = {"startedAt", "finishedAt"};
    struct arena *arena = &lister->remote->arena;
    struct str content = json_find_str(execution, "content", arena);
    (void)err;
    table_add(lister->table, json_find_str(execution, "scheduledFor", arena));
    table_add(lister->table, json_find_str(execution, "status", arena));
    for (size_t i = 0; i < ARRAY_LEN(times); i++) {
        SCOPED(buf_fini) struct buf when = BUF_INIT(KIB);
        human_when(&when, &lister->paper, json_find_str(execution, times[i], arena));
        table_add(lister->table, buf_view(&when));
    }
    table_add(lister->table, json_find_str(execution, "taskId", arena));
    content = str_absent(content) ? content : str_cut(&content, '\n');
    table_add(lister->table, (struct str){content.ptr, MIN(content.len, (size_t)CONTENT_COLUMN)});
    return true;
}

static enum exit_status run_history(const void *options, const struct words *words)
{
    static const char *const heads[] = {"FOR",  "STATUS",  "STARTED", "FINISHED",
                                        "TASK", "CONTENT", NULL};
    const struct look *look = options;
    SCOPED(remote_close) struct remote remote = {.client = NULL};
    struct err err = ERR_INIT;
    char after[48];
    snprintf(after, sizeof after, "/executions?limit=%lld", (long long)MIN(look->limit, PAGE_MAX));
    if (!remote_open(&remote, &look->remote, &err)) {
        return verb_fail(&err);
    }
    struct str path = remote_path(&remote, "/api/schedules/", words->at[0], after);
    return list(&remote, path, look->limit, heads, take_execution);
}

/* ---- The verbs ---- */

static const struct option schedules_options[] = {
    {"status", "S", "in this status, or several: ACTIVE,PAUSED", OPTION_TEXT(struct look, status)},
    {"user", "U", "of this user", OPTION_TEXT(struct look, user)},
    {"category", "C", "of this category, or several", OPTION_TEXT(struct look, category)},
    {"calendar", NULL, "a month, its days with runs marked and listed",
     OPTION_SET(struct look, calendar)},
    {"month", "YYYY-MM", "which month (default that of the nearest run)",
     OPTION_TEXT(struct look, month)},
    {"limit", "N", "at most this many (default 50)", OPTION_NUMBER(struct look, limit, 1, 1000000)},
    REMOTE_OPTIONS(struct look),
    OPTION_END,
};

const struct verb schedules_verb = {
    .name = "schedules",
    .arguments = "",
    .summary = "list schedules, or show them in a calendar",
    .about = "Lists schedules, newest first, with what they mean and when they run next.\n\n"
             "With --calendar it draws a month instead: days on which something is going to run\n"
             "have a star and are listed below, in each schedule's own time zone. What has\n"
             "already run is in the history of a schedule, not here.",
    .examples = "# what is going to run\nerrand schedules --status ACTIVE\n"
                "# in March\nerrand schedules --calendar --month 2027-03\n"
                "# for a script\nerrand schedules --user 7 --json",
    .options = schedules_options,
    .defaults = &look_defaults,
    .size = sizeof(struct look),
    .run = run_schedules,
};

static const struct option show_options[] = {REMOTE_OPTIONS(struct look), OPTION_END};

const struct verb schedule_show_verb = {
    .name = "schedule show",
    .arguments = "ID",
    .summary = "show one schedule and its coming month",
    .about = "Shows what a schedule means, its fields, its next five dates, and the month of its\n"
             "next run as a calendar.",
    .examples = "# for people\nerrand schedule show 0192f3a1-7c1e-7000-8000-000000000001",
    .options = show_options,
    .size = sizeof(struct look),
    .words_min = 1,
    .words_max = 1,
    .run = run_show,
};

static const struct option next_options[] = {
    {"count", "N", "how many (default 10)", OPTION_NUMBER(struct look, n, 1, NEXT_MAX),
     .letter = 'n'},
    REMOTE_OPTIONS(struct look),
    OPTION_END,
};

const struct verb schedule_next_verb = {
    .name = "schedule next",
    .arguments = "ID",
    .summary = "say when a schedule runs next",
    .about =
        "Prints the next times of a schedule in its time zone, one a line. --json has them in\n"
        "UTC as well.",
    .examples = "# the next three\nerrand schedule next 0192f3a1-7c1e-7000-8000-000000000001 -n 3",
    .options = next_options,
    .defaults = &look_defaults,
    .size = sizeof(struct look),
    .words_min = 1,
    .words_max = 1,
    .run = run_next,
};

static const struct option history_options[] = {
    {"limit", "N", "at most this many (default 50)", OPTION_NUMBER(struct look, limit, 1, 1000000)},
    REMOTE_OPTIONS(struct look),
    OPTION_END,
};

const struct verb schedule_history_verb = {
    .name = "schedule history",
    .arguments = "ID",
    .summary = "list the runs of a schedule",
    .about = "Lists what became of a schedule's times, newest first: runs with their task and the\n"
             "beginning of their result, times that were left out, and wake-ups.",
    .examples = "# the last ten\n"
                "errand schedule history 0192f3a1-7c1e-7000-8000-000000000001 --limit 10",
    .options = history_options,
    .defaults = &look_defaults,
    .size = sizeof(struct look),
    .words_min = 1,
    .words_max = 1,
    .run = run_history,
};
