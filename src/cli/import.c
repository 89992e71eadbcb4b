/* cli/import.c: `errand import crontab`: each line of a crontab as a schedule.
 *
 * The whole file is read and judged first, by the server too; only then is anything created, and
 * what was created is taken back if the server refuses a later line. The commands are payloads: who
 * runs them is a worker that somebody starts.
 *
 * SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdio.h>

#include "base/array.h"
#include "base/mem.h"
#include "cli/verb.h"
#include "schedule/schedule.h"
#include "time/cron.h"

#define CRONTAB_MAX MIB

struct import {
    struct remote_options remote;
    struct str type, timezone, queue, user;
    bool system, skip;
};

static const struct import import_defaults = {.type = {"cron", 4}};

/* One line that becomes a schedule. */
struct entry {
    size_t line; /* its number in the file */
    struct str cron, zone, command;
    struct str id; /* once it is created */
};

struct crontab {
    const struct import *given;
    struct remote *remote;
    struct entry *entries;
    size_t count, room;
    size_t refused;
    struct str zone; /* of the lines below: CRON_TZ */
};

/* ---- Reading ---- */

static void refuse(struct crontab *crontab, size_t line, const char *why)
{
    struct err err = ERR_INIT;
    err_set(&err, ERR_INVALID, "line %zu: %s", line, why);
    (void)verb_fail_as(crontab->remote->json, &err);
    crontab->refused++;
}

static struct str next_field(struct str *rest)
{
    struct str text = str_trim(*rest);
    size_t end = 0;
    while (end < text.len && text.ptr[end] != ' ' && text.ptr[end] != '\t') {
        end++;
    }
    *rest = str_trim(str_from(text, end));
    return (struct str){text.ptr, end};
}

/* NAME=value. What a command finds in its environment is its worker's business; only the time zone
 * changes when it runs. */
static bool take_setting(struct crontab *crontab, size_t number, struct str line)
{
    struct str value = line, name = str_trim(str_cut(&value, '='));
    size_t letters = 0;
    while (letters < name.len &&
           (isalnum((unsigned char)name.ptr[letters]) || name.ptr[letters] == '_')) {
        letters++;
    }
    if (str_absent(value) || name.len == 0 || letters < name.len) {
        return false;
    }
    value = str_trim(value);
    if (value.len >= 2 && (value.ptr[0] == '"' || value.ptr[0] == '\'') &&
        value.ptr[value.len - 1] == value.ptr[0]) {
        value = (struct str){value.ptr + 1, value.len - 2};
    }
    if (str_is(name, "CRON_TZ") || str_is(name, "TZ")) {
        crontab->zone = value;
    } else if (!str_is(name, "MAILTO") || value.len > 0) {
        struct str why = arena_printf(
            &crontab->remote->arena,
            STR_FMT " is not kept: a command has the environment of the worker that runs it",
            STR_ARG(name));
        refuse(crontab, number, why.ptr);
    }
    return true;
}

/* "\%" is a percent sign; a bare one would begin the command's standard input. */
static bool take_command(struct crontab *crontab, struct str text, struct str *out)
{
    SCOPED(buf_fini) struct buf command = BUF_INIT(CRONTAB_MAX);
    for (size_t i = 0; i < text.len; i++) {
        bool escaped = text.ptr[i] == '\\' && i + 1 < text.len && text.ptr[i + 1] == '%';
        if (text.ptr[i] == '%') {
            return false;
        }
        i += escaped;
        buf_char(&command, text.ptr[i]);
    }
    *out = arena_str(&crontab->remote->arena, buf_view(&command));
    return true;
}

static void take_line(struct crontab *crontab, size_t number, struct str line)
{
    struct str rest = line, first = next_field(&rest);
    SCOPED(buf_fini) struct buf cron = BUF_INIT(KIB);
    struct entry entry = {.line = number, .zone = crontab->zone};
    struct err err = ERR_INIT;
    struct rrule rule;
    if (take_setting(crontab, number, line)) {
        return;
    }
    buf_str(&cron, first);
    for (int i = 1; i < 5 && !str_starts(first, STR("@")); i++) {
        buf_c(&cron, " ");
        buf_str(&cron, next_field(&rest));
    }
    if (str_is(first, "@reboot")) {
        refuse(crontab, number, "@reboot is not a time: no schedule can stand for it");
        return;
    }
    if (!cron_parse(buf_view(&cron), &rule, &err)) {
        refuse(crontab, number, err.text);
        return;
    }
    if (crontab->given->system) {
        next_field(&rest); /* whoever the command was run as: that is the worker's business now */
    }
    if (rest.len == 0) {
        refuse(crontab, number, "there is no command behind the time");
    } else if (!take_command(crontab, rest, &entry.command)) {
        refuse(crontab, number,
               "text behind % is the command's standard input: put it into a file");
    } else {
        entry.cron = arena_str(&crontab->remote->arena, buf_view(&cron));
        *ARRAY_PUSH(crontab->entries, crontab->count, crontab->room) = entry;
    }
}

static bool read_crontab(struct crontab *crontab, struct str path, struct err *err)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(CRONTAB_MAX);
    if (!remote_read(path, &text, err)) {
        return false;
    }
    struct str rest = arena_str(&crontab->remote->arena, buf_view(&text));
    for (size_t number = 1; !str_absent(rest); number++) {
        struct str line = str_cut(&rest, '\n');
        line.len -= str_ends(line, STR("\r")); /* of a file that came from Windows */
        line = str_trim(line);
        if (line.len > 0 && line.ptr[0] != '#') {
            take_line(crontab, number, line);
        }
    }
    return true;
}

/* ---- Creating ---- */

/* As much of the command as a title may have, on one line. */
static void put_title(struct json_writer *w, struct str command)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(CRONTAB_MAX);
    struct str title = {command.ptr, MIN(command.len, (size_t)SCHEDULE_TITLE_MAX)};
    while (title.len < command.len && (title.ptr[title.len] & 0xC0) == 0x80) {
        title.len--; /* not in the middle of a character */
    }
    for (size_t i = 0; i < title.len; i++) {
        buf_char(&text, iscntrl((unsigned char)title.ptr[i]) ? ' ' : title.ptr[i]);
    }
    json_put_str(w, "title", buf_view(&text));
}

static bool send(struct crontab *crontab, struct entry *entry, const char *path, struct str *answer,
                 struct err *err)
{
    const struct import *given = crontab->given;
    SCOPED(buf_fini) struct buf body = BUF_INIT(CRONTAB_MAX);
    struct json_writer w = JSON_WRITER(&body);
    json_open_object(&w);
    put_title(&w, entry->command);
    json_put_str(&w, "cron", entry->cron);
    json_put_str(&w, "timezone", entry->zone);
    json_put_str(&w, "taskType", given->type);
    if (!str_absent(given->queue)) {
        json_put_str(&w, "queue", given->queue);
    }
    if (!str_absent(given->user)) {
        json_put_str(&w, "userId", given->user);
    }
    json_put_object(&w, "payload");
    json_put_str(&w, "command", entry->command);
    json_close_object(&w);
    json_close_object(&w);
    return remote_call(crontab->remote, "POST", str_of(path), buf_view(&body), answer, err);
}

/* The server's word about each line, before anything is there. */
static bool judge(struct crontab *crontab, struct err *err)
{
    size_t kept = 0;
    struct str answer;
    for (size_t i = 0; i < crontab->count; i++) {
        struct err why = ERR_INIT;
        if (send(crontab, &crontab->entries[i], "/api/schedules/preview", &answer, &why)) {
            /* A preview may show that there is nothing to show; a schedule needs a time. */
            if (str_is(json_find(answer, "next", &crontab->remote->arena), "[]")) {
                refuse(crontab, crontab->entries[i].line, "this never occurs");
            } else {
                crontab->entries[kept++] = crontab->entries[i];
            }
        } else if ((why.kind == ERR_REFUSED || why.kind == ERR_INVALID)) {
            refuse(crontab, crontab->entries[i].line, why.text);
        } else {
            *err = why;
            return false;
        }
    }
    crontab->count = kept;
    return crontab->refused == 0 || crontab->given->skip ||
           err_set(err, ERR_INVALID,
                   "nothing was imported: %zu line%s cannot be taken over; --skip leaves %s out",
                   crontab->refused, crontab->refused == 1 ? "" : "s",
                   crontab->refused == 1 ? "it" : "them");
}

static bool create(struct crontab *crontab, struct err *err)
{
    struct str answer;
    for (size_t i = 0; i < crontab->count; i++) {
        struct entry *entry = &crontab->entries[i];
        if (!send(crontab, entry, "/api/schedules", &answer, err)) {
            err_wrap(err, "line %zu", entry->line);
            for (size_t back = 0; back < i; back++) {
                struct err lost = ERR_INIT;
                struct str path =
                    remote_path(crontab->remote, "/api/schedules/", crontab->entries[back].id, "");
                if (!remote_call(crontab->remote, "DELETE", path, STR_NONE, &answer, &lost)) {
                    fprintf(stderr, "errand: " STR_FMT " stays behind: %s\n",
                            STR_ARG(crontab->entries[back].id), lost.text);
                }
            }
            return false;
        }
        entry->id = json_find_str(answer, "id", &crontab->remote->arena);
    }
    return true;
}

static void print_imported(const struct crontab *crontab)
{
    bool json = crontab->remote->json;
    for (size_t i = 0; i < crontab->count; i++) {
        const struct entry *entry = &crontab->entries[i];
        SCOPED(buf_fini) struct buf command = BUF_INIT(CRONTAB_MAX);
        human_clean(&command, entry->command);
        if (json) {
            printf("%s{\"line\":%zu,\"id\":\"" STR_FMT "\"}", i == 0 ? "[" : ",\n", entry->line,
                   STR_ARG(entry->id));
        } else {
            printf(STR_FMT "  " STR_FMT "  " STR_FMT "\n", STR_ARG(entry->id), STR_ARG(entry->cron),
                   STR_ARG(buf_view(&command)));
        }
    }
    if (json) {
        puts(crontab->count == 0 ? "[]" : "]");
    }
}

static enum exit_status run_import(const void *options, const struct words *words)
{
    const struct import *given = options;
    SCOPED(remote_close) struct remote remote = {.client = NULL};
    struct crontab crontab = {.given = given, .remote = &remote};
    struct err err = ERR_INIT;
    char zone[HUMAN_ZONE_MAX];
    crontab.zone = str_absent(given->timezone) ? human_zone(zone) : given->timezone;
    bool ok = remote_open(&remote, &given->remote, &err) &&
              read_crontab(&crontab, words->at[0], &err) && judge(&crontab, &err) &&
              create(&crontab, &err);
    if (ok) {
        print_imported(&crontab);
    }
    mem_free(crontab.entries);
    return ok ? EXIT_OK : verb_fail_as(given->remote.json, &err);
}

static const struct option import_options[] = {
    {"type", "T", "the type of the tasks (default cron)", OPTION_TEXT(struct import, type)},
    {"timezone", "ZONE", "the time zone of the times (default the machine's)",
     OPTION_TEXT(struct import, timezone)},
    {"queue", "Q", "the queue of the tasks", OPTION_TEXT(struct import, queue)},
    {"user", "U", "whose schedules they are", OPTION_TEXT(struct import, user)},
    {"system", NULL, "the sixth field is a user, as in /etc/crontab; it is left out",
     OPTION_SET(struct import, system)},
    {"skip", NULL, "leave out what cannot be taken over", OPTION_SET(struct import, skip)},
    REMOTE_OPTIONS(struct import),
    OPTION_END,
};

const struct verb import_crontab_verb = {
    .name = "import crontab",
    .arguments = "FILE|-",
    .summary = "take over a crontab as schedules",
    .about =
        "Makes a schedule of each line of a crontab. A run creates a task of type cron whose\n"
        "payload is {\"command\":\"...\"}; the server never runs it by itself, a worker that\n"
        "somebody starts does. All lines are taken over or none: what cannot be is listed with\n"
        "its reason, and --skip leaves it out.",
    .examples = "# the crontab of this user\ncrontab -l | errand import crontab -\n"
                "# who runs the commands\n"
                "errand work --type cron -- sh -c 'eval \"$(jq -r .command)\"'",
    .options = import_options,
    .defaults = &import_defaults,
    .size = sizeof(struct import),
    .words_min = 1,
    .words_max = 1,
    .run = run_import,
};
