/* cli/schedule.h: what the commands about schedules share.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLI_SCHEDULE_H
#define ERRAND_CLI_SCHEDULE_H

#include "cli/verb.h"
#include "task/task.h"

#define SCHEDULE_NEXT_COUNT 5 /* dates shown of what was understood or made */

/* ---- What makes a schedule: the options of making and of changing one ---- */

struct schedule_fields {
    struct str title, description, purpose, category, user;
    struct str rrule, cron, at, timezone, overlap, misfire, dst_gap, dst_fold;
    struct option_many without, also;
    struct str type, payload, queue, priority, document;
    int64_t max_retries, timeout_ms, jitter_ms; /* negative: not given */
    struct str delivery, delivery_title;
    struct option_many to;
};

#define SCHEDULE_FIELDS_NONE                                                                       \
    {                                                                                              \
        .max_retries = -1, .timeout_ms = -1, .jitter_ms = -1                                       \
    }

/* clang-format off */
#define SCHEDULE_FIELDS(owner)                                                                     \
    {"title", "TITLE", "what it is called", OPTION_TEXT(owner, fields.title), .field = "title"},    \
    {"description", "TEXT", "more about it, for people", OPTION_TEXT(owner, fields.description), .field = "description"}, \
    {"purpose", "TEXT", "what a run works from: the prompt, or what is reminded of", OPTION_TEXT(owner, fields.purpose), .field = "purpose"}, \
    {"category", "C", "REMINDER, REPORT, ANALYSIS or OTHERS", OPTION_CAPITALS(owner, fields.category), .field = "category"}, \
    {"user", "U", "whose schedule it is", OPTION_TEXT(owner, fields.user), .field = "userId"},      \
    {"rrule", "RULE", "a rule of RFC 5545, FREQ=DAILY;BYHOUR=9;BYMINUTE=0", OPTION_TEXT(owner, fields.rrule), .field = "rrule"}, \
    {"cron", "EXPRESSION", "instead of a rule: \"0 9 * * 1-5\"", OPTION_TEXT(owner, fields.cron), .field = "cron"}, \
    {"at", "TIME", "once, or the rule's start: 2027-03-01T09:00:00, 2h", OPTION_WALL(owner, fields.at), .field = "dtstart"}, \
    {"timezone", "ZONE", "the time zone that is meant: Europe/Paris (of a new one, the machine's)", OPTION_TEXT(owner, fields.timezone), .field = "timezone"}, \
    {"without", "TIME", "leave this time out; may be given again", OPTION_LIST(owner, fields.without), .field = "exdates"}, \
    {"also", "TIME", "a time beside the rule; may be given again", OPTION_LIST(owner, fields.also), .field = "rdates"}, \
    {"overlap", "WHAT", "while the last run is unfinished: skip, queue, allow or cancel", OPTION_TEXT(owner, fields.overlap), .field = "overlap"}, \
    {"misfire", "WHAT", "of times missed in a downtime: once, skip or all", OPTION_TEXT(owner, fields.misfire), .field = "misfire"}, \
    {"dst-gap", "WHAT", "a local time that does not exist: shift or skip", OPTION_TEXT(owner, fields.dst_gap), .field = "dstGap"}, \
    {"dst-fold", "WHAT", "one that exists twice: first, last or both", OPTION_TEXT(owner, fields.dst_fold), .field = "dstFold"}, \
    {"jitter", "DURATION", "spread starts over this window", OPTION_DURATION(owner, fields.jitter_ms), .field = "jitterMs"}, \
    {"type", "T", "the type of the task each run creates (default prompt or remind)", OPTION_TEXT(owner, fields.type), .field = "taskType"}, \
    {"payload", "JSON", "the payload of that task, @FILE or - too", OPTION_TEXT(owner, fields.payload)}, \
    {"queue", "Q", "its queue", OPTION_TEXT(owner, fields.queue), .field = "queue"},                \
    {"priority", "P", "CRITICAL, HIGH, NORMAL or LOW", OPTION_CAPITALS(owner, fields.priority), .field = "priority"}, \
    {"doc", "ID", "its document", OPTION_TEXT(owner, fields.document), .field = "documentId"},      \
    {"max-retries", "N", "its retries after failures", OPTION_NUMBER(owner, fields.max_retries, 0, TASK_RETRIES_MAX), .field = "maxRetries"}, \
    {"timeout", "DURATION", "limit of one of its attempts; 0 for none", OPTION_DURATION(owner, fields.timeout_ms), .field = "timeoutMs"}, \
    {"delivery", "CHANNELS", "where results go: any of EMAIL,WEB,MOBILE (default WEB)", OPTION_CAPITALS(owner, fields.delivery)}, \
    {"delivery-title", "TEXT", "what a delivery is called", OPTION_TEXT(owner, fields.delivery_title), .field = "deliveryTitle"}, \
    {"to", "ADDRESS", "of EMAIL, or the URL of MOBILE; may be given again", OPTION_LIST(owner, fields.to)}
/* clang-format on */

/* Whether they go together. */
MUST_CHECK bool schedule_fields_check(const struct schedule_fields *fields, struct err *err);

/* Those that were given, as members of the object that `w` writes. `options` is the table of the
 * command, `from` its struct, which holds `fields`. A payload may have to be read. */
MUST_CHECK bool schedule_fields_put(const struct schedule_fields *fields,
                                    const struct option *options, const void *from,
                                    struct json_writer *w, struct err *err);

/* ---- Schedules as the server shows them ---- */

/* When it runs, as a sentence; nothing where this machine does not know its rule or zone. */
void schedule_summary(struct remote *remote, struct str schedule, struct buf *out);

/* The next times of a schedule: an array of {"utc","local"}. */
MUST_CHECK bool schedule_times(struct remote *remote, struct str id, int64_t n, struct str *out,
                               struct err *err);

/* Lines "name      value", for people. Absent and empty values are left out. */
void schedule_print_line(const char *name, struct str value);
void schedule_print_times(struct remote *remote, struct str times);

/* ---- A month on the terminal: the days on which schedules run are marked, and listed below ----
 *
 * Days and times are those of each schedule's own time zone. */

/* The runs of one schedule on one day. */
struct calendar_runs {
    struct str date; /* "2027-03-08" */
    struct str time; /* of the first: "09:00" */
    int64_t count;
    struct str id, title;
};

struct calendar {
    struct remote *remote;
    struct str month; /* "2027-03"; absent: that of the nearest run */
    struct calendar_runs *runs;
    size_t count, room;
    struct str known; /* the date up to which all runs are known; absent: for ever */
};

/* Fails when the month is none. */
MUST_CHECK bool calendar_init(struct calendar *calendar, struct remote *remote, struct str month,
                              struct err *err);
void calendar_fini(struct calendar *calendar);

/* Asks the server when this schedule will run. One that is not ACTIVE will not. */
MUST_CHECK bool calendar_add(struct calendar *calendar, struct str schedule, struct err *err);

/* All have been added: the month, or as JSON the runs in it. */
void calendar_print(struct calendar *calendar);

#endif
