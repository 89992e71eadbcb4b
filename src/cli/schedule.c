/* cli/schedule.c: `errand schedule`: a sentence, a rule or a single time becomes a schedule.
 *
 * The server makes it. --explain works without one: it reads the sentence with the same grammar and
 * shows what was understood.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "base/clock.h"
#include "cli/schedule.h"
#include "english/english.h"
#include "english/summary.h"

#define BODY_MAX    (4 * MIB)
#define MIN_LEAD_MS (5 * SECOND_MS) /* the server's default, [schedule] min_lead */

/* `errand schedule` */
struct schedule_options {
    struct remote_options remote;
    bool explain;
    struct str now;
    struct schedule_fields fields;
};

static const struct schedule_options defaults = {.fields = SCHEDULE_FIELDS_NONE};

/* ---- Explaining ---- */

/* One sentence, read. */
struct reading {
    struct english_asked asked;
    struct english_read read;
    const struct zone *zone; /* of the schedule */
    int64_t next_ms[SCHEDULE_NEXT_COUNT];
    size_t next_count;
    struct buf summary;
    struct arena arena;
};

static void reading_fini(struct reading *reading)
{
    buf_fini(&reading->summary);
    arena_fini(&reading->arena);
    zone_release(reading->zone);
    zone_release(reading->asked.zone);
    zones_free(reading->asked.zones);
}

static bool read_now(struct str text, const struct zone *zone, int64_t *out_ms, struct err *err)
{
    struct when when;
    struct zone_answer answer;
    if (str_absent(text)) {
        *out_ms = clock_real_wall_ms();
        return true;
    }
    if (!when_parse(text, &when, err)) {
        return err_wrap(err, "--now");
    }
    zone_resolve(zone, when.s, &answer);
    *out_ms = (when.is_utc ? when.s : answer.first_s) * 1000;
    return true;
}

static void look_ahead(struct reading *reading)
{
    SCOPED(recur_free_at) struct recur *recur = NULL;
    const struct english_read *read = &reading->read;
    bool recurring = read->kind == ENGLISH_RECURRING;
    if (str_absent(read->zone) ||
        !zones_get(reading->asked.zones, read->zone, &reading->zone, NULL)) {
        reading->zone = zone_keep(reading->asked.zone);
    }
    struct recur_order order = {.start = read->start,
                                .rule = recurring ? &read->rule : NULL,
                                .zone = reading->zone,
                                .exdates = read->exdates,
                                .exdates_count = read->exdates_count};
    summary_write(&reading->summary, &order);
    if (recur_new(&order, &recur, NULL)) {
        reading->next_count =
            recur_list(recur, reading->asked.now_ms, SCHEDULE_NEXT_COUNT, reading->next_ms);
    }
}

static bool read_text(const struct schedule_options *options, const struct words *words,
                      struct reading *out, struct err *err)
{
    out->asked.zones = zones_new(NULL);
    if (!zones_get(out->asked.zones, options->fields.timezone, &out->asked.zone, err) ||
        !read_now(options->now, out->asked.zone, &out->asked.now_ms, err)) {
        return false;
    }
    out->asked.text = words_join(words, 0, &out->arena);
    out->asked.min_lead_ms = MIN_LEAD_MS;
    english_read(&out->asked, &out->arena, &out->read);
    if (out->read.kind != ENGLISH_REFUSED) {
        look_ahead(out);
    }
    return true;
}

static void write_local(struct buf *out, const struct zone *zone, int64_t at_ms)
{
    int64_t utc_s = wall_div(at_ms, 1000), offset_min = (zone_wall(zone, utc_s) - utc_s) / 60;
    wall_write(out, zone_wall(zone, utc_s));
    int64_t size = offset_min < 0 ? -offset_min : offset_min;
    buf_printf(out, "%c%02d:%02d", offset_min < 0 ? '-' : '+', (int)(size / 60), (int)(size % 60));
}

static void print_words(struct reading *reading, const struct paper *paper)
{
    static const char *const heads[] = {"WORDS", "TAKEN FOR", NULL};
    const struct english_read *read = &reading->read;
    SCOPED(table_fini) struct table table;
    table_init(&table, heads, &reading->arena);
    for (size_t from = 0; from < read->words_count;) {
        size_t to = english_run_end(read->words, read->words_count, from);
        SCOPED(buf_fini) struct buf clean = BUF_INIT(64 * KIB);
        human_clean(&clean, english_run_text(read->words, from, to));
        table_add(&table, buf_view(&clean));
        table_add(&table, str_of(english_role_name(read->words[from].role)));
        from = to;
    }
    table_print(&table, paper);
}

static void print_schedule(const struct reading *reading)
{
    const struct english_read *read = &reading->read;
    SCOPED(buf_fini) struct buf out = BUF_INIT(64 * KIB);
    buf_printf(&out, "\n" STR_FMT "\n", STR_ARG(buf_view(&reading->summary)));
    buf_c(&out, "title     ");
    human_clean(&out, read->title);
    buf_printf(&out, "\ncategory  %s\n", english_category_name(read->category));
    if (read->kind == ENGLISH_RECURRING) {
        buf_printf(&out, "rule      " STR_FMT "\n", STR_ARG(read->rrule));
    }
    buf_printf(&out, "start     " STR_FMT "\n", STR_ARG(read->dtstart));
    for (size_t i = 0; i < read->exdates_count; i++) {
        buf_c(&out, i == 0 ? "without   " : "          ");
        wall_write(&out, read->exdates[i].s);
        buf_char(&out, '\n');
    }
    for (size_t i = 0; i < reading->next_count; i++) {
        buf_c(&out, i == 0 ? "next      " : "          ");
        write_local(&out, reading->zone, reading->next_ms[i]);
        buf_char(&out, '\n');
    }
    fputs(buf_c_text(&out), stdout);
}

static void write_words(const struct english_read *read, struct json_writer *w)
{
    json_put_array(w, "words");
    for (size_t from = 0; from < read->words_count;) {
        size_t to = english_run_end(read->words, read->words_count, from);
        json_open_object(w);
        json_put_str(w, "text", english_run_text(read->words, from, to));
        json_put_c(w, "as", english_role_name(read->words[from].role));
        json_close_object(w);
        from = to;
    }
    json_close_array(w);
}

static void write_refusal(const struct english_refusal *refusal, struct json_writer *w)
{
    json_put_object(w, "refusal");
    json_put_array(w, "fields");
    for (size_t i = 0; i < refusal->fields_count; i++) {
        json_add_str(w, str_of(refusal->fields[i]));
    }
    json_close_array(w);
    json_put_str(w, "reason", refusal->reason);
    json_close_object(w);
}

static void write_schedule(const struct reading *reading, struct json_writer *w)
{
    const struct english_read *read = &reading->read;
    json_put_str(w, "title", read->title);
    json_put_c(w, "category", english_category_name(read->category));
    json_put_bool(w, "isOneTime", read->kind == ENGLISH_ONCE);
    if (read->kind == ENGLISH_RECURRING) {
        json_put_str(w, "rrule", read->rrule);
    }
    json_put_str(w, "dtstart", read->dtstart);
    json_put_c(w, "timezone", zone_name(reading->zone));
    if (read->exdates_count > 0) {
        json_put_array(w, "exdates");
        for (size_t i = 0; i < read->exdates_count; i++) {
            SCOPED(buf_fini) struct buf text = BUF_INIT(64);
            wall_write(&text, read->exdates[i].s);
            json_add_str(w, buf_view(&text));
        }
        json_close_array(w);
    }
    json_put_array(w, "next");
    for (size_t i = 0; i < reading->next_count; i++) {
        json_add_time(w, reading->next_ms[i]);
    }
    json_close_array(w);
    json_put_str(w, "summary", buf_view(&reading->summary));
}

static void print_json(const struct reading *reading)
{
    const struct english_read *read = &reading->read;
    bool refused = read->kind == ENGLISH_REFUSED;
    SCOPED(buf_fini) struct buf text = BUF_INIT(MIB);
    struct json_writer w = JSON_WRITER(&text);
    json_open_object(&w);
    json_put_c(&w, "mode", refused ? "REFUSAL" : "TASK_CREATION");
    if (refused) {
        write_refusal(&read->refusal, &w);
    } else {
        write_schedule(reading, &w);
    }
    write_words(read, &w);
    json_close_object(&w);
    puts(buf_c_text(&text));
}

static enum exit_status explain(const struct schedule_options *options, const struct words *words)
{
    SCOPED(reading_fini)
    struct reading reading = {.summary = BUF_INIT(64 * KIB), .arena = ARENA_INIT};
    struct paper paper = paper_stdout();
    struct err err = ERR_INIT;
    if (!read_text(options, words, &reading, &err)) {
        return verb_usage_as(options->remote.json, &err);
    }
    bool refused = reading.read.kind == ENGLISH_REFUSED;
    if (options->remote.json) {
        print_json(&reading);
        return refused ? EXIT_FAILED : EXIT_OK;
    }
    if (reading.read.words_count > 0) {
        print_words(&reading, &paper);
    }
    if (refused) {
        err_set(&err, ERR_REFUSED, "refused: " STR_FMT, STR_ARG(reading.read.refusal.reason));
        return verb_fail_as(options->remote.json, &err);
    }
    print_schedule(&reading);
    return EXIT_OK;
}

/* ---- Creating ---- */

/* A sentence says its time; a rule, a cron expression or a time needs none. */
static bool check_order(const struct schedule_options *options, const struct words *words,
                        struct err *err)
{
    const struct schedule_fields *fields = &options->fields;
    bool timed = !str_absent(fields->rrule) || !str_absent(fields->cron) || !str_absent(fields->at);
    if (timed == (words->count > 0)) {
        return err_set(err, ERR_INVALID,
                       "say it in English, or with --title and one of --rrule, --cron and --at");
    }
    return schedule_fields_check(fields, err);
}

/* The schedule is there, whatever comes of asking for its times. */
static void print_created(struct remote *remote, struct str schedule)
{
    SCOPED(buf_fini) struct buf summary = BUF_INIT(64 * KIB);
    struct str times, id = json_find_str(schedule, "id", &remote->arena);
    schedule_summary(remote, schedule, &summary);
    printf(STR_FMT "\n", STR_ARG(buf_view(&summary)));
    schedule_print_line("title", json_find_str(schedule, "title", &remote->arena));
    schedule_print_line("id", id);
    if (schedule_times(remote, id, SCHEDULE_NEXT_COUNT, &times, NULL)) {
        schedule_print_times(remote, times);
    }
}

static enum exit_status create(const struct schedule_options *options, const struct words *words)
{
    SCOPED(remote_close) struct remote remote = {.client = NULL};
    SCOPED(buf_fini) struct buf body = BUF_INIT(BODY_MAX);
    struct err err = ERR_INIT;
    struct str schedule;
    if (!check_order(options, words, &err)) {
        return verb_usage_as(options->remote.json, &err);
    }
    if (!remote_open(&remote, &options->remote, &err)) {
        return verb_fail_as(options->remote.json, &err);
    }
    struct str text = words_join(words, 0, &remote.arena);
    struct json_writer w = JSON_WRITER(&body);
    json_open_object(&w);
    if (text.len > 0) {
        json_put_str(&w, "text", text);
    }
    bool read = schedule_fields_put(&options->fields, schedule_verb.options, options, &w, &err);
    json_close_object(&w);
    if (!read) {
        return verb_usage_as(options->remote.json, &err);
    }
    if (!remote_call(&remote, "POST", STR("/api/schedules"), buf_view(&body), &schedule, &err)) {
        return verb_fail_as(options->remote.json, &err);
    }
    remote_warn(&remote, schedule);
    if (remote.json) {
        printf(STR_FMT "\n", STR_ARG(schedule));
    } else {
        print_created(&remote, schedule);
    }
    return EXIT_OK;
}

/* ---- The verb ---- */

static enum exit_status run_schedule(const void *options, const struct words *words)
{
    struct schedule_options own = *(const struct schedule_options *)options, *given = &own;
    char zone[HUMAN_ZONE_MAX];
    struct err err = ERR_INIT;
    own.fields.timezone = str_absent(own.fields.timezone) ? human_zone(zone) : own.fields.timezone;
    if (given->explain && words->count == 0) {
        err_set(&err, ERR_INVALID, "--explain needs a text");
        return verb_usage_as(given->remote.json, &err);
    }
    if (!given->explain && !str_absent(given->now)) {
        err_set(&err, ERR_INVALID, "--now is for --explain; a server has its own clock");
        return verb_usage_as(given->remote.json, &err);
    }
    return given->explain ? explain(given, words) : create(given, words);
}

static const struct option schedule_options[] = {
    {"explain", NULL, "show what is understood, word by word; no server is needed",
     OPTION_SET(struct schedule_options, explain)},
    {"now", "TIME", "with --explain, as if it were this time: 2027-03-01T09:00:00",
     OPTION_TEXT(struct schedule_options, now)},
    SCHEDULE_FIELDS(struct schedule_options),
    REMOTE_OPTIONS(struct schedule_options),
    OPTION_END,
};

const struct verb schedule_verb = {
    .name = "schedule",
    .arguments = "[TEXT]",
    .summary = "create a schedule from English, or from a rule",
    .about = "Creates a schedule from a sentence such as \"every other Friday at 3pm send the\n"
             "report\", or from --title and one of --rrule, --cron and --at. It prints when the\n"
             "schedule runs and its next five dates; a sentence that cannot be meant is refused\n"
             "with the reason (exit status 1). Quote the sentence: its first word might be a\n"
             "command, such as show or run.\n\n"
             "With --explain nothing is created and no server is needed: it shows what each word\n"
             "was taken for, the rule, and the next five dates.",
    .examples =
        "# in English\n"
        "errand schedule \"every Monday at 9am send the sales report\" --timezone Europe/Paris\n"
        "# by mail as well\n"
        "errand schedule \"tomorrow at noon call the bank\" --delivery EMAIL,WEB --to "
        "me@example.org\n"
        "# a rule, and the task that each run creates\n"
        "errand schedule --title Backup --cron \"30 2 * * *\" --type backup --payload "
        "'{\"all\":true}'\n"
        "# what does it make of this?\n"
        "errand schedule --explain \"every weekday at 8:30 stand up\" --timezone Asia/Tokyo\n"
        "# on another day\n"
        "errand schedule --explain \"next friday\" --now 2027-03-01T09:00:00",
    .options = schedule_options,
    .defaults = &defaults,
    .size = sizeof(struct schedule_options),
    .words_max = WORDS_MAX,
    .run = run_schedule,
};
