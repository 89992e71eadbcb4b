/* cli/schedules.c: the commands about schedules that are there: list, show, next, history; run,
 * backfill, pause, resume, rm.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "cli/schedule.h"
#include "english/summary.h"

#define NEXT_MAX       1000
#define CONTENT_COLUMN 60

struct schedules {
    struct remote_options remote;
    struct str status, user, category, month;
    bool calendar;
    int64_t n;                /* of next */
    struct str reason, until; /* of pause */
    struct str from, to;      /* of backfill */
    bool again;
};

static const struct schedules list_defaults = {REMOTE_LIST_DEFAULTS};

static const struct option plain_options[] = {REMOTE_OPTIONS(struct schedules), OPTION_END};

/* ---- As the server shows them ---- */

void schedule_print_line(const char *name, struct str value)
{
    SCOPED(buf_fini) struct buf line = BUF_INIT(MIB);
    if (!str_absent(value) && value.len > 0) {
        human_clean(&line, value);
        printf("%-9s " STR_FMT "\n", name, STR_ARG(buf_view(&line)));
    }
}

void schedule_summary(struct remote *remote, struct str schedule, struct buf *out)
{
    struct arena *arena = &remote->arena;
    SCOPED(zone_release_at) const struct zone *zone = NULL;
    struct zones *zones = zones_new(NULL);
    struct str rule_text = json_find_str(schedule, "rrule", arena);
    struct rrule rule;
    struct recur_order order = {.rule = str_absent(rule_text) ? NULL : &rule};
    if (zones_get(zones, json_find_str(schedule, "timezone", arena), &zone, NULL) &&
        (str_absent(rule_text) || rrule_parse(rule_text, &rule, NULL)) &&
        when_parse(json_find_str(schedule, "dtstart", arena), &order.start, NULL)) {
        order.zone = zone;
        summary_write(out, &order);
    }
    zones_free(zones);
}

bool schedule_times(struct remote *remote, struct str id, int64_t n, struct str *out,
                    struct err *err)
{
    struct str after = arena_printf(&remote->arena, "/next?n=%lld", (long long)n);
    return remote_call(remote, "GET", remote_path(remote, "/api/schedules/", id, after.ptr),
                       STR_NONE, out, err);
}

void schedule_print_times(struct remote *remote, struct str times)
{
    struct json json;
    struct str time;
    const char *name = "next";
    json_start(&json, times, &remote->arena);
    if (json_enter_array(&json, NULL)) {
        while (remote_item(&json, &time)) {
            schedule_print_line(name, json_find_str(time, "local", &remote->arena));
            name = "";
        }
    }
}

/* ---- Lists ---- */

static void write_summary(struct remote *remote, struct str schedule, const char *key,
                          struct buf *cell)
{
    (void)key;
    schedule_summary(remote, schedule, cell);
}

static const struct column schedule_columns[] = {
    {"ID", .key = "id"},
    {"STATUS", .key = "status"},
    {"TITLE", .key = "title"},
    {"WHEN", .key = "rrule", .write = write_summary},
    {"NEXT", .key = "nextExecutionTime", .kind = COLUMN_TIME},
    {"USER", .key = "userId"},
    {.head = NULL},
};

static bool take_into_calendar(void *calendar, struct str schedule, struct err *err)
{
    return calendar_add(calendar, schedule, err);
}

static enum exit_status run_schedules(const void *options, const struct words *words)
{
    const struct schedules *given = options;
    SCOPED(remote_close) struct remote remote = {.client = NULL};
    SCOPED(calendar_fini) struct calendar calendar = {.remote = NULL};
    SCOPED(buf_fini) struct buf path = BUF_INIT(64 * KIB);
    struct err err = ERR_INIT;
    if (!given->calendar && str_absent(given->month)) {
        return verb_request(&schedules_verb, options, words);
    }
    buf_printf(&path, "/api/schedules?limit=%d", REMOTE_PAGE_MAX);
    option_put_query(schedules_verb.options, options, &path);
    if (!remote_open(&remote, &given->remote, &err)) {
        return verb_fail_as(given->remote.json, &err);
    }
    if (!calendar_init(&calendar, &remote, given->month, &err)) {
        return verb_usage_as(given->remote.json, &err);
    }
    if (!remote_pages(&remote, buf_view(&path), INT64_MAX, take_into_calendar, &calendar, &err)) {
        return verb_fail_as(given->remote.json, &err);
    }
    calendar_print(&calendar);
    return EXIT_OK;
}

static const struct option schedules_options[] = {
    {"status", "S", "in this status, or several: ACTIVE,PAUSED",
     OPTION_CAPITALS(struct schedules, status), .field = "status"},
    {"user", "U", "of this user", OPTION_TEXT(struct schedules, user), .field = "userId"},
    {"category", "C", "of this category, or several", OPTION_CAPITALS(struct schedules, category),
     .field = "category"},
    {"calendar", NULL, "a month, its days with runs marked and listed",
     OPTION_SET(struct schedules, calendar)},
    {"month", "YYYY-MM", "which month (default that of the nearest run)",
     OPTION_TEXT(struct schedules, month)},
    REMOTE_LIST_OPTIONS(struct schedules),
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
    .defaults = &list_defaults,
    .size = sizeof(struct schedules),
    .request = {"GET", "/api/schedules", .columns = schedule_columns},
    .run = run_schedules,
};

/* What is known of a run: the first line of its content, as much as a column has room for. */
static void write_content(struct remote *remote, struct str execution, const char *key,
                          struct buf *cell)
{
    struct str content = json_find_str(execution, key, &remote->arena);
    buf_str(cell, str_head(str_cut(&content, '\n'), CONTENT_COLUMN));
}

/* Each channel with how its delivery went: "EMAIL COMPLETED, WEB COMPLETED". */
static void write_deliveries(struct remote *remote, struct str execution, const char *key,
                             struct buf *cell)
{
    struct str deliveries = json_find(execution, key, &remote->arena), channel, raw;
    struct json json;
    json_start(&json, str_absent(deliveries) ? STR("{}") : deliveries, &remote->arena);
    if (!json_enter_object(&json, NULL)) {
        return;
    }
    while (json_member(&json, &channel, NULL) && json_raw(&json, &raw, NULL)) {
        struct str status = json_find_str(raw, "status", &remote->arena);
        buf_printf(cell, "%s" STR_FMT " " STR_FMT, cell->len == 0 ? "" : ", ", STR_ARG(channel),
                   STR_ARG(status));
    }
}

static const struct column history_columns[] = {
    {"FOR", .key = "scheduledFor"},
    {"STATUS", .key = "status"},
    {"STARTED", .key = "startedAt", .kind = COLUMN_TIME},
    {"FINISHED", .key = "finishedAt", .kind = COLUMN_TIME},
    {"TASK", .key = "taskId"},
    {"DELIVERED", .key = "deliveries", .write = write_deliveries},
    {"CONTENT", .key = "content", .write = write_content},
    {.head = NULL},
};

static const struct option history_options[] = {REMOTE_LIST_OPTIONS(struct schedules), OPTION_END};

const struct verb schedule_history_verb = {
    .name = "schedule history",
    .arguments = "ID",
    .summary = "list the runs of a schedule",
    .about = "Lists what became of a schedule's times, newest first: runs with their task and the\n"
             "beginning of their result, times that were left out, and wake-ups.",
    .examples = "# the last ten\n"
                "errand schedule history 0192f3a1-7c1e-7000-8000-000000000001 --limit 10",
    .options = history_options,
    .defaults = &list_defaults,
    .size = sizeof(struct schedules),
    .words_min = 1,
    .words_max = 1,
    .request = {"GET", "/api/schedules/{}/executions", .columns = history_columns},
};

/* ---- One schedule ---- */

static void print_fields(struct remote *remote, struct str schedule)
{
    static const struct {
        const char *name, *key;
    } fields[] = {
        {"title", "title"},
        {"id", "id"},
        {"status", "status"},
        {"because", "pausedReason"},
        {"resumes", "resumeAt"},
        {"rule", "rrule"},
        {"start", "dtstart"},
        {"timezone", "timezone"},
        {"user", "userId"},
        {"category", "category"},
        {"purpose", "purpose"},
        {"type", "taskType"},
        {"queue", "queue"},
        {"priority", "priority"},
        {"overlap", "overlap"},
        {"misfire", "misfire"},
        {"last run", "lastExecutionTime"},
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

static enum exit_status run_show(const void *options, const struct words *words)
{
    SCOPED(remote_close) struct remote remote = {.client = NULL};
    struct err err = ERR_INIT;
    struct str schedule, id;
    if (!remote_open(&remote, options, &err) ||
        !remote_name(&remote, "/api/schedules", words->at[0], &id, &err) ||
        !remote_call(&remote, "GET", remote_path(&remote, "/api/schedules/", id, ""), STR_NONE,
                     &schedule, &err)) {
        return verb_fail_as(remote.json, &err);
    }
    if (remote.json) {
        printf(STR_FMT "\n", STR_ARG(schedule));
        return EXIT_OK;
    }
    return print_schedule(&remote, schedule, &err) ? EXIT_OK : verb_fail_as(remote.json, &err);
}

const struct verb schedule_show_verb = {
    .name = "schedule show",
    .arguments = "ID",
    .summary = "show one schedule and its coming month",
    .about = "Shows what a schedule means, its fields, its next five dates, and the month of its\n"
             "next run as a calendar.",
    .examples = "# for people\nerrand schedule show 0192f3a1-7c1e-7000-8000-000000000001",
    .options = plain_options,
    .size = sizeof(struct schedules),
    .words_min = 1,
    .words_max = 1,
    .run = run_show,
};

static void print_local(struct remote *remote, struct str times)
{
    struct json json;
    struct str time;
    json_start(&json, times, &remote->arena);
    if (json_enter_array(&json, NULL)) {
        while (remote_item(&json, &time)) {
            SCOPED(buf_fini) struct buf line = BUF_INIT(KIB);
            human_clean(&line, json_find_str(time, "local", &remote->arena));
            puts(buf_c_text(&line));
        }
    }
}

static const struct schedules next_defaults = {.n = 10};

static const struct option next_options[] = {
    {"count", "N", "how many (default 10)", OPTION_NUMBER(struct schedules, n, 1, NEXT_MAX),
     .letter = 'n', .field = "n"},
    REMOTE_OPTIONS(struct schedules),
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
    .defaults = &next_defaults,
    .size = sizeof(struct schedules),
    .words_min = 1,
    .words_max = 1,
    .request = {"GET", "/api/schedules/{}/next", .print = print_local},
};

/* ---- Changes, each to one or several ---- */

const struct verb schedule_run_verb = {
    .name = "schedule run",
    .arguments = "ID...",
    .summary = "run a schedule now",
    .about = "Runs schedules now, beside their rhythm, and prints the id of each run, which is\n"
             "also the id of its task.",
    .examples = "# now, and wait for it\n"
                "errand schedule run 0192f3a1-7c1e-7000-8000-000000000001\n"
                "errand watch",
    .options = plain_options,
    .size = sizeof(struct schedules),
    .words_min = 1,
    .words_max = WORDS_MAX,
    .request = {"POST", "/api/schedules/{}/run", .each = true, .member = "executionId"},
};

static const struct option backfill_options[] = {
    {"from", "TIME", "the window begins: 3d, 2027-03-01T00:00:00Z",
     OPTION_PAST(struct schedules, from), .field = "from"},
    {"to", "TIME", "and ends", OPTION_PAST(struct schedules, to), .field = "to"},
    {"again", NULL, "also the times that did run", OPTION_SET(struct schedules, again),
     .field = "again"},
    REMOTE_OPTIONS(struct schedules),
    OPTION_END,
};

static enum exit_status run_backfill(const void *options, const struct words *words)
{
    const struct schedules *given = options;
    struct err err = ERR_INIT;
    if (str_absent(given->from) || str_absent(given->to)) {
        err_set(&err, ERR_INVALID, "--from and --to are needed: the window that is made up for");
        return verb_usage_as(given->remote.json, &err);
    }
    return verb_request(&schedule_backfill_verb, options, words);
}

const struct verb schedule_backfill_verb = {
    .name = "schedule backfill",
    .arguments = "ID...",
    .summary = "run times of the past that were left out",
    .about = "Runs the times of a past window that never ran, at most 1000, and prints how many.\n"
             "With --again also those that did.",
    .examples = "# what the last three days have missed\n"
                "errand schedule backfill 0192f3a1-7c1e-7000 --from 3d --to 1m",
    .options = backfill_options,
    .size = sizeof(struct schedules),
    .words_min = 1,
    .words_max = WORDS_MAX,
    .request = {"POST", "/api/schedules/{}/backfill", .each = true, .member = "count"},
    .run = run_backfill,
};

static const struct option pause_options[] = {
    {"reason", "TEXT", "why, for those who look", OPTION_TEXT(struct schedules, reason),
     .field = "reason"},
    {"until", "TIME", "resume by itself then: 2h, 2027-03-01T09:00:00Z",
     OPTION_TIME(struct schedules, until), .field = "until"},
    REMOTE_OPTIONS(struct schedules),
    OPTION_END,
};

const struct verb schedule_pause_verb = {
    .name = "schedule pause",
    .arguments = "ID...",
    .summary = "pause schedules",
    .about = "Pauses schedules: nothing runs until they are resumed.",
    .examples = "# over the holidays\n"
                "errand schedule pause 0192f3a1-7c1e-7000-8000-000000000001 --reason holidays",
    .options = pause_options,
    .size = sizeof(struct schedules),
    .words_min = 1,
    .words_max = WORDS_MAX,
    .request = {"POST", "/api/schedules/{}/pause", .each = true, .member = "status"},
};

const struct verb schedule_resume_verb = {
    .name = "schedule resume",
    .arguments = "ID...",
    .summary = "resume paused schedules",
    .about = "Resumes schedules. Times that were missed meanwhile are not made up.",
    .examples = "# back again\nerrand schedule resume 0192f3a1-7c1e-7000-8000-000000000001",
    .options = plain_options,
    .size = sizeof(struct schedules),
    .words_min = 1,
    .words_max = WORDS_MAX,
    .request = {"POST", "/api/schedules/{}/resume", .each = true, .member = "status"},
};

static void print_removed(struct remote *remote, struct str answer)
{
    (void)remote, (void)answer;
    puts("removed");
}

const struct verb schedule_rm_verb = {
    .name = "schedule rm",
    .arguments = "ID...",
    .summary = "remove schedules",
    .about = "Removes schedules and their history. Tasks they have created stay.",
    .examples = "# for good\nerrand schedule rm 0192f3a1-7c1e-7000-8000-000000000001",
    .options = plain_options,
    .size = sizeof(struct schedules),
    .words_min = 1,
    .words_max = WORDS_MAX,
    .request = {"DELETE", "/api/schedules/{}", .each = true, .print = print_removed},
};
