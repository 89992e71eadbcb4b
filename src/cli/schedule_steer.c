/* cli/schedule_steer.c: `errand schedule run, pause, resume, rm, edit`: what becomes of schedules.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "cli/schedule.h"

#define BODY_MAX MIB

struct steer {
    struct remote_options remote;
    struct str reason;                     /* of pause */
    struct str title, rrule, at, timezone; /* of edit */
};

/* What one verb asks of the server for one schedule. */
struct wish {
    const char *method, *after;
    struct str body;
    const char *shown; /* the member of the answer that people see; NULL: `said` */
    const char *said;
};

/* ---- One wish, several schedules ---- */

static bool wish_one(struct remote *remote, const struct wish *wish, struct str id, struct err *err)
{
    struct str path = remote_path(remote, "/api/schedules/", id, wish->after), answer;
    if (!remote_call(remote, wish->method, path, wish->body, &answer, err)) {
        return err_wrap(err, STR_FMT, STR_ARG(id));
    }
    if (remote->json) {
        printf(STR_FMT "%s", STR_ARG(answer), answer.len > 0 ? "\n" : "");
        return true;
    }
    struct str said = wish->shown == NULL ? str_of(wish->said)
                                          : json_find_str(answer, wish->shown, &remote->arena);
    printf(STR_FMT "  " STR_FMT "\n", STR_ARG(id), STR_ARG(said));
    return true;
}

/* Each id is tried, so that one that is gone does not hold up the others. */
static enum exit_status wish_each(const struct steer *steer, const struct wish *wish,
                                  const struct words *words)
{
    SCOPED(remote_close) struct remote remote = {.client = NULL};
    enum exit_status status = EXIT_OK;
    struct err err = ERR_INIT;
    if (!remote_open(&remote, &steer->remote, &err)) {
        return verb_fail(&err);
    }
    for (size_t i = 0; i < words->count; i++) {
        struct err own = ERR_INIT;
        if (!wish_one(&remote, wish, words->at[i], &own)) {
            status = verb_fail(&own);
        }
    }
    return status;
}

static enum exit_status run_run(const void *options, const struct words *words)
{
    const struct wish wish = {.method = "POST", .after = "/run", .shown = "executionId"};
    return wish_each(options, &wish, words);
}

static enum exit_status run_pause(const void *options, const struct words *words)
{
    const struct steer *steer = options;
    SCOPED(buf_fini) struct buf body = BUF_INIT(BODY_MAX);
    struct json_writer w = JSON_WRITER(&body);
    json_open_object(&w);
    if (!str_absent(steer->reason)) {
        json_put_str(&w, "reason", steer->reason);
    }
    json_close_object(&w);
    const struct wish wish = {
        .method = "POST", .after = "/pause", .body = buf_view(&body), .shown = "status"};
    return wish_each(steer, &wish, words);
}

static enum exit_status run_resume(const void *options, const struct words *words)
{
    const struct wish wish = {.method = "POST", .after = "/resume", .shown = "status"};
    return wish_each(options, &wish, words);
}

static enum exit_status run_rm(const void *options, const struct words *words)
{
    const struct wish wish = {.method = "DELETE", .after = "", .said = "removed"};
    return wish_each(options, &wish, words);
}

/* ---- Edits ---- */

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

static void write_patch(const struct steer *steer, struct buf *body)
{
    const struct {
        const char *key;
        struct str value;
    } texts[] = {
        {"title", steer->title},
        {"rrule", steer->rrule},
        {"dtstart", steer->at},
        {"timezone", steer->timezone},
    };
    struct json_writer w = JSON_WRITER(body);
    json_open_object(&w);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        if (!str_absent(texts[i].value)) {
            json_put_str(&w, texts[i].key, texts[i].value);
        }
    }
    json_close_object(&w);
}

static bool edit_fields(struct remote *remote, const struct steer *steer, struct str id,
                        struct err *err)
{
    SCOPED(buf_fini) struct buf body = BUF_INIT(BODY_MAX);
    struct str schedule;
    write_patch(steer, &body);
    if (!remote_call(remote, "PATCH", remote_path(remote, "/api/schedules/", id, ""),
                     buf_view(&body), &schedule, err)) {
        return false;
    }
    if (remote->json) {
        printf(STR_FMT "\n", STR_ARG(schedule));
    } else {
        print_changed(remote, schedule);
    }
    return true;
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
static bool edit_text(struct remote *remote, const struct steer *steer, struct str id,
                      struct str text, struct err *err)
{
    SCOPED(buf_fini) struct buf body = BUF_INIT(BODY_MAX);
    struct json_writer w = JSON_WRITER(&body);
    struct str schedule, answer;
    if (!remote_call(remote, "GET", remote_path(remote, "/api/schedules/", id, ""), STR_NONE,
                     &schedule, err)) {
        return false;
    }
    struct str user = json_find_str(schedule, "userId", &remote->arena);
    struct str own_zone = json_find_str(schedule, "timezone", &remote->arena);
    json_open_object(&w);
    json_put_str(&w, "text", text);
    json_put_str(&w, "timezone", str_absent(steer->timezone) ? own_zone : steer->timezone);
    if (!str_absent(user)) {
        json_put_str(&w, "userId", user);
    }
    json_close_object(&w);
    struct str path = remote_path(remote, "/api/assistant?scheduleId=", id, "");
    return remote_call(remote, "POST", path, buf_view(&body), &answer, err) &&
           tell_edit(remote, answer, err);
}

static enum exit_status run_edit(const void *options, const struct words *words)
{
    const struct steer *steer = options;
    SCOPED(remote_close) struct remote remote = {.client = NULL};
    struct err err = ERR_INIT;
    bool fields = !str_absent(steer->title) || !str_absent(steer->rrule) || !str_absent(steer->at);
    struct words text = *words;
    memmove(text.at, text.at + 1, --text.count * sizeof *text.at);
    if ((fields || !str_absent(steer->timezone)) ? fields && text.count > 0 : text.count == 0) {
        err_set(&err, ERR_INVALID, "say the change in English, or with --title, --rrule, --at");
        return verb_usage(&err);
    }
    if (!remote_open(&remote, &steer->remote, &err)) {
        return verb_fail(&err);
    }
    bool ok = text.count == 0 ? edit_fields(&remote, steer, words->at[0], &err)
                              : edit_text(&remote, steer, words->at[0],
                                          schedule_text(&text, &remote.arena), &err);
    return ok ? EXIT_OK : verb_fail(&err);
}

/* ---- The verbs ---- */

static const struct option plain_options[] = {REMOTE_OPTIONS(struct steer), OPTION_END};

static const struct option pause_options[] = {
    {"reason", "TEXT", "why, for those who look", OPTION_TEXT(struct steer, reason)},
    REMOTE_OPTIONS(struct steer),
    OPTION_END,
};

static const struct option edit_options[] = {
    {"title", "TITLE", "call it so", OPTION_TEXT(struct steer, title)},
    {"rrule", "RULE", "another rule", OPTION_TEXT(struct steer, rrule)},
    {"at", "TIME", "another time, or start of the rule: 2027-03-01T09:00:00",
     OPTION_TEXT(struct steer, at)},
    {"timezone", "ZONE", "another time zone; with a text, the one it means",
     OPTION_TEXT(struct steer, timezone)},
    REMOTE_OPTIONS(struct steer),
    OPTION_END,
};

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
    .size = sizeof(struct steer),
    .words_min = 1,
    .words_max = WORDS_MAX,
    .run = run_run,
};

const struct verb schedule_pause_verb = {
    .name = "schedule pause",
    .arguments = "ID...",
    .summary = "pause schedules",
    .about = "Pauses schedules: nothing runs until they are resumed.",
    .examples = "# over the holidays\n"
                "errand schedule pause 0192f3a1-7c1e-7000-8000-000000000001 --reason holidays",
    .options = pause_options,
    .size = sizeof(struct steer),
    .words_min = 1,
    .words_max = WORDS_MAX,
    .run = run_pause,
};

const struct verb schedule_resume_verb = {
    .name = "schedule resume",
    .arguments = "ID...",
    .summary = "resume paused schedules",
    .about = "Resumes schedules. Times that were missed meanwhile are not made up.",
    .examples = "# back again\nerrand schedule resume 0192f3a1-7c1e-7000-8000-000000000001",
    .options = plain_options,
    .size = sizeof(struct steer),
    .words_min = 1,
    .words_max = WORDS_MAX,
    .run = run_resume,
};

const struct verb schedule_rm_verb = {
    .name = "schedule rm",
    .arguments = "ID...",
    .summary = "remove schedules",
    .about = "Removes schedules and their history. Tasks they have created stay.",
    .examples = "# for good\nerrand schedule rm 0192f3a1-7c1e-7000-8000-000000000001",
    .options = plain_options,
    .size = sizeof(struct steer),
    .words_min = 1,
    .words_max = WORDS_MAX,
    .run = run_rm,
};

const struct verb schedule_edit_verb = {
    .name = "schedule edit",
    .arguments = "ID [TEXT]",
    .summary = "change a schedule, in English or field by field",
    .about = "Changes a schedule as a sentence says: another time, pause, resume, skip the next,\n"
             "rename, delete. What the sentence does not mention stays; one that does not say a\n"
             "change is refused with the reason (exit status 1). Or give --title, --rrule, --at\n"
             "or --timezone.",
    .examples =
        "# in English\n"
        "errand schedule edit 0192f3a1-7c1e-7000-8000-000000000001 \"move it to 8am\"\n"
        "errand schedule edit 0192f3a1-7c1e-7000-8000-000000000001 \"skip the next one\"\n"
        "# field by field\n"
        "errand schedule edit 0192f3a1-7c1e-7000-8000-000000000001 --title \"Sales report\"",
    .options = edit_options,
    .size = sizeof(struct steer),
    .words_min = 1,
    .words_max = WORDS_MAX,
    .run = run_edit,
};
