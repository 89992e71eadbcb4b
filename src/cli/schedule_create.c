/* cli/schedule_create.c: `errand schedule TEXT`: a sentence, a rule or a single time becomes a
 * schedule on the server. See schedule.h.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "cli/schedule.h"
#include "english/summary.h"

#define BODY_MAX (4 * MIB)

/* ---- Telling ---- */

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

/* ---- The order ---- */

struct str schedule_text(const struct words *words, struct arena *arena)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(MIB);
    for (size_t i = 0; i < words->count; i++) {
        buf_c(&text, i > 0 ? " " : "");
        buf_str(&text, words->at[i]);
    }
    return arena_str(arena, buf_view(&text));
}

/* What can hold an URL is a phone's topic; everything else is an address for mail. */
static const char *channel_of(struct str address)
{
    return memmem(address.ptr, address.len, "://", 3) != NULL ? "MOBILE" : "EMAIL";
}

static void put_delivery(struct json_writer *w, struct str channels)
{
    json_put_array(w, "delivery");
    while (!str_absent(channels)) {
        json_add_str(w, str_cut(&channels, ','));
    }
    json_close_array(w);
}

static void put_addresses(struct json_writer *w, const struct schedule_options *options)
{
    const struct option_many *to = &options->to;
    if (str_absent(options->delivery)) {
        json_put_array(w, "delivery");
        for (size_t i = 0; i < to->count; i++) {
            json_add_str(w, str_of(channel_of(to->at[i])));
        }
        json_close_array(w);
    }
    json_put_object(w, "deliverTo");
    for (size_t i = 0; i < to->count; i++) {
        json_put_str(w, channel_of(to->at[i]), to->at[i]);
    }
    json_close_object(w);
}

static void write_order(const struct schedule_options *options, struct str text, struct buf *body)
{
    const struct {
        const char *key;
        struct str value;
    } texts[] = {
        {"text", text},
        {"title", options->title},
        {"rrule", options->rrule},
        {"cron", options->cron},
        {"dtstart", options->at},
        {"timezone", options->zone},
        {"userId", options->user},
        {"category", options->category},
        {"taskType", options->type},
        {"queue", options->queue},
        {"priority", options->priority},
    };
    struct json_writer w = JSON_WRITER(body);
    json_open_object(&w);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        if (!str_absent(texts[i].value) && texts[i].value.len > 0) {
            json_put_str(&w, texts[i].key, texts[i].value);
        }
    }
    if (!str_absent(options->payload)) {
        json_put_raw(&w, "payload", options->payload);
    }
    if (!str_absent(options->delivery)) {
        put_delivery(&w, options->delivery);
    }
    if (options->to.count > 0) {
        put_addresses(&w, options);
    }
    json_close_object(&w);
}

/* A sentence says its time; a rule, a cron expression or a time needs none. */
static bool check_order(const struct schedule_options *options, const struct words *words,
                        struct err *err)
{
    bool timed =
        !str_absent(options->rrule) || !str_absent(options->cron) || !str_absent(options->at);
    if (timed == (words->count > 0)) {
        return err_set(err, ERR_INVALID,
                       "say it in English, or with --title and one of --rrule, --cron and --at");
    }
    if (options->to.count > 2 ||
        (options->to.count == 2 &&
         strcmp(channel_of(options->to.at[0]), channel_of(options->to.at[1])) == 0)) {
        return err_set(err, ERR_INVALID, "--to takes one address for mail and one URL");
    }
    return str_absent(options->payload) || json_valid(options->payload, err) ||
           err_wrap(err, "the payload is not JSON");
}

enum exit_status schedule_create(const struct schedule_options *options, const struct words *words)
{
    SCOPED(remote_close) struct remote remote = {.client = NULL};
    SCOPED(buf_fini) struct buf body = BUF_INIT(BODY_MAX);
    struct err err = ERR_INIT;
    struct str schedule;
    if (!check_order(options, words, &err)) {
        return verb_usage(&err);
    }
    if (!remote_open(&remote, &options->remote, &err)) {
        return verb_fail(&err);
    }
    write_order(options, schedule_text(words, &remote.arena), &body);
    if (!remote_call(&remote, "POST", STR("/api/schedules"), buf_view(&body), &schedule, &err)) {
        return verb_fail(&err);
    }
    if (remote.json) {
        printf(STR_FMT "\n", STR_ARG(schedule));
    } else {
        print_created(&remote, schedule);
    }
    return EXIT_OK;
}
