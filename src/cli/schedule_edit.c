/* cli/schedule_edit.c: `errand schedule edit`: a sentence, or the options that make a schedule,
 * change one.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "base/nearest.h"
#include "cli/schedule.h"

#define BODY_MAX (4 * MIB)

struct schedule_edit {
    struct remote_options remote;
    struct schedule_fields fields;
    struct option_many clear; /* names of options whose fields are to be as if never given */
};

static const struct schedule_edit edit_defaults = {.fields = SCHEDULE_FIELDS_NONE};

static void print_changed(struct remote *remote, struct str schedule)
{
    SCOPED(buf_fini) struct buf summary = BUF_INIT(64 * KIB);
    struct str id = json_find_str(schedule, "id", &remote->arena), times;
    schedule_summary(remote, schedule, &summary);
    printf(STR_FMT "\n", STR_ARG(buf_view(&summary)));
    schedule_print_line("title", json_find_str(schedule, "title", &remote->arena));
    schedule_print_line("status", json_find_str(schedule, "status", &remote->arena));
    if (str_is(json_find_str(schedule, "status", &remote->arena), "ACTIVE") &&
        schedule_times(remote, id, SCHEDULE_NEXT_COUNT, &times, NULL)) {
        schedule_print_times(remote, times);
    }
}

static bool tell_edit(struct remote *remote, struct str answer, struct err *err)
{
    struct arena *arena = &remote->arena;
    if (remote->json) {
        printf(STR_FMT "\n", STR_ARG(answer));
    }
    if (str_is(json_find_str(answer, "mode", arena), "REFUSAL")) {
        struct str refusal = json_find(answer, "refusal", arena);
        return err_set(err, ERR_REFUSED, "refused: " STR_FMT,
                       STR_ARG(json_find_str(refusal, "reason", arena)));
    }
    if (!remote->json && str_is(json_find_str(answer, "action", arena), "cancel")) {
        puts("removed");
    } else if (!remote->json) {
        print_changed(remote, json_find(answer, "schedule", arena));
    }
    return true;
}

/* The server reads the sentence, in the schedule's zone and for its owner. */
static bool edit_text(struct remote *remote, const struct schedule_edit *given, struct str id,
                      struct str text, struct err *err)
{
    SCOPED(buf_fini) struct buf body = BUF_INIT(BODY_MAX);
    struct json_writer w = JSON_WRITER(&body);
    struct str schedule, answer;
    if (!remote_name(remote, "/api/schedules", id, &id, err) ||
        !remote_call(remote, "GET", remote_path(remote, "/api/schedules/", id, ""), STR_NONE,
                     &schedule, err)) {
        return false;
    }
    struct str user = json_find_str(schedule, "userId", &remote->arena);
    struct str own_zone = json_find_str(schedule, "timezone", &remote->arena);
    json_open_object(&w);
    json_put_str(&w, "text", text);
    json_put_str(&w, "timezone",
                 str_absent(given->fields.timezone) ? own_zone : given->fields.timezone);
    if (!str_absent(user)) {
        json_put_str(&w, "userId", user);
    }
    json_close_object(&w);
    struct str path = remote_path(remote, "/api/assistant?scheduleId=", id, "");
    return remote_call(remote, "POST", path, buf_view(&body), &answer, err) &&
           tell_edit(remote, answer, err);
}

/* The server's name of an option's field; its null says that it was never given, or that it is what
 * it usually is. */
static bool put_cleared(const struct schedule_edit *given, struct json_writer *w, struct err *err)
{
    for (size_t i = 0; i < given->clear.count; i++) {
        struct str name = given->clear.at[i];
        struct nearest nearest = nearest_begin(name);
        const char *field = NULL;
        for (const struct option *option = schedule_edit_verb.options; option->name != NULL;
             option++) {
            if (str_is(name, option->name)) {
                field = option->field != NULL      ? option->field
                        : str_is(name, "to")       ? "deliverTo"
                        : str_is(name, "delivery") ? "delivery"
                                                   : NULL;
            } else if (option->field != NULL) {
                nearest_offer(&nearest, str_of(option->name));
            }
        }
        if (field == NULL) {
            bool near = !str_absent(nearest.best);
            return err_set(err, ERR_INVALID,
                           "--clear " STR_FMT ": there is no such field%s" STR_FMT "%s",
                           STR_ARG(name), near ? "; did you mean " : "",
                           STR_ARG(near ? nearest.best : STR("")), near ? "?" : "");
        }
        json_put_null(w, field);
    }
    return true;
}

static bool edit_fields(struct remote *remote, const struct schedule_edit *given, struct str id,
                        struct str body, struct err *err)
{
    struct str schedule;
    if (!remote_name(remote, "/api/schedules", id, &id, err) ||
        !remote_call(remote, "PATCH", remote_path(remote, "/api/schedules/", id, ""), body,
                     &schedule, err)) {
        return false;
    }
    remote_warn(remote, schedule);
    if (given->remote.json) {
        printf(STR_FMT "\n", STR_ARG(schedule));
    } else {
        print_changed(remote, schedule);
    }
    return true;
}

static enum exit_status run_edit(const void *options, const struct words *words)
{
    const struct schedule_edit *given = options;
    SCOPED(remote_close) struct remote remote = {.client = NULL};
    SCOPED(buf_fini) struct buf body = BUF_INIT(BODY_MAX), zone_body = BUF_INIT(KIB);
    struct json_writer w = JSON_WRITER(&body), only_zone = JSON_WRITER(&zone_body);
    struct err err = ERR_INIT;
    bool said = words->count > 1;
    json_open_object(&only_zone);
    json_open_object(&w);
    if (!schedule_fields_check(&given->fields, &err) ||
        !schedule_fields_put(&given->fields, schedule_edit_verb.options, given, &w, &err) ||
        !put_cleared(given, &w, &err)) {
        return verb_usage_as(given->remote.json, &err);
    }
    json_close_object(&w);
    /* With a sentence the zone says what its times mean; nothing else goes with one. */
    struct str zone = given->fields.timezone;
    if (!str_absent(zone)) {
        json_put_str(&only_zone, "timezone", zone);
    }
    json_close_object(&only_zone);
    bool more = !str_eq(buf_view(&body), buf_view(&zone_body));
    if (said ? more : !more && str_absent(zone)) {
        err_set(&err, ERR_INVALID,
                "say the change in English, or with options such as --title, --rrule and --clear");
        return verb_usage_as(given->remote.json, &err);
    }
    if (!remote_open(&remote, &given->remote, &err)) {
        return verb_fail_as(given->remote.json, &err);
    }
    bool ok =
        said ? edit_text(&remote, given, words->at[0], words_join(words, 1, &remote.arena), &err)
             : edit_fields(&remote, given, words->at[0], buf_view(&body), &err);
    return ok ? EXIT_OK : verb_fail_as(given->remote.json, &err);
}

static const struct option edit_options[] = {
    SCHEDULE_FIELDS(struct schedule_edit),
    {"clear", "OPTION", "take back what that option had set: --clear doc; may be given again",
     OPTION_LIST(struct schedule_edit, clear)},
    REMOTE_OPTIONS(struct schedule_edit),
    OPTION_END,
};

const struct verb schedule_edit_verb = {
    .name = "schedule edit",
    .arguments = "ID [TEXT]",
    .summary = "change a schedule, in English or field by field",
    .about = "Changes a schedule as a sentence says: another time, pause, resume, skip the next,\n"
             "rename, delete. What the sentence does not mention stays; one that does not say a\n"
             "change is refused with the reason (exit status 1). Or give any of the options that\n"
             "errand schedule takes; --clear takes one back: the field is unset, or what it is\n"
             "where nothing is said. What is not given stays.",
    .examples =
        "# in English\n"
        "errand schedule edit 0192f3a1-7c1e-7000-8000-000000000001 \"move it to 8am\"\n"
        "errand schedule edit 0192f3a1-7c1e-7000-8000-000000000001 \"skip the next one\"\n"
        "# field by field\n"
        "errand schedule edit 0192f3a1-7c1e-7000-8000-000000000001 --title \"Sales report\"\n"
        "errand schedule edit @last --cron \"0 9 * * 1-5\" --queue slow --clear doc",
    .options = edit_options,
    .defaults = &edit_defaults,
    .size = sizeof(struct schedule_edit),
    .words_min = 1,
    .words_max = WORDS_MAX,
    .run = run_edit,
};
