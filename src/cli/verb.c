/* cli/verb.c: the list of commands, and the request that most of them are. See verb.h.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/verb.h"

#include <assert.h>
#include <stdio.h>

#include "net/fault.h"
#include "wire/uri.h"

/* One a line: two that add a verb must not meet. */
/* clang-format off */
const struct verb *const verbs[] = {
    &serve_verb,
    &push_verb,
    &ls_verb,
    &show_verb,
    &why_verb,
    &edit_verb,
    &cancel_verb,
    &retry_verb,
    &rm_verb,
    &watch_verb,
    &top_verb,
    &work_verb,
    &stats_verb,
    &schedule_verb,
    &schedule_show_verb,
    &schedule_next_verb,
    &schedule_run_verb,
    &schedule_backfill_verb,
    &schedule_pause_verb,
    &schedule_resume_verb,
    &schedule_edit_verb,
    &schedule_rm_verb,
    &schedule_history_verb,
    &schedules_verb,
    &team_verb,
    &team_start_verb,
    &team_show_verb,
    &team_watch_verb,
    &team_say_verb,
    &team_cancel_verb,
    &queues_verb,
    &queues_set_verb,
    &queues_pause_verb,
    &queues_resume_verb,
    &queues_purge_verb,
    &workers_verb,
    &workers_quiet_verb,
    &workers_stop_verb,
    &workers_resume_verb,
    &documents_verb,
    &nodes_verb,
    &events_verb,
    &import_crontab_verb,
    &mcp_verb,
    &token_create_verb,
    &token_ls_verb,
    &token_revoke_verb,
    &backup_verb,
    &restore_verb,
    &move_verb,
    &migrate_verb,
    &doctor_verb,
    &bench_verb,
    &completion_verb,
    &help_verb,
    NULL,
};
/* clang-format on */

const struct verb *verb_find(int argc, char **argv, int *used)
{
    const struct verb *found = NULL;
    *used = 0;
    for (size_t i = 0; verbs[i] != NULL; i++) {
        struct str second = str_of(verbs[i]->name);
        struct str first = str_cut(&second, ' ');
        int words = str_absent(second) ? 1 : 2;
        bool listed =
            words == 2 && argc >= 2 && str_is(second, "ls") && strcmp(argv[1], "list") == 0;
        /* "queues set" is more than "queues". */
        if (words > *used && argc >= words && str_is(first, argv[0]) &&
            (words == 1 || listed || str_is(second, argv[1]))) {
            found = verbs[i];
            *used = words;
        }
    }
    return found;
}

/* ---- Failing ---- */

static enum exit_status say(bool json, const struct err *err, enum exit_status status)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(4 * KIB);
    fflush(stdout);
    if (json) {
        struct json_writer w = JSON_WRITER(&text);
        json_open_object(&w);
        json_put_object(&w, "error");
        json_put_c(&w, "code", fault_code(err->kind));
        json_put_c(&w, "message", err->text);
        if (err->field[0] != '\0') {
            json_put_c(&w, "field", err->field);
        }
        json_close_object(&w);
        json_close_object(&w);
        fprintf(stderr, "%s\n", buf_c_text(&text));
        return status;
    }
    human_clean(&text, str_of(err->text));
    if (err->field[0] != '\0') {
        buf_c(&text, " (field ");
        human_clean(&text, str_of(err->field));
        buf_c(&text, ")");
    }
    buf_c(&text, err->kind == ERR_DENIED ? "; set ERRAND_TOKEN, or give --token" : "");
    fprintf(stderr, "errand: %s\n", buf_c_text(&text));
    return status;
}

enum exit_status verb_fail(const struct err *err)
{
    return say(false, err, EXIT_FAILED);
}

enum exit_status verb_usage(const struct err *err)
{
    return say(false, err, EXIT_USAGE);
}

enum exit_status verb_fail_as(bool json, const struct err *err)
{
    return say(json, err, EXIT_FAILED);
}

enum exit_status verb_usage_as(bool json, const struct err *err)
{
    return say(json, err, EXIT_USAGE);
}

/* ---- One request ---- */

/* `errand queues` may be written `errand queues list`. Another word is a verb that is not there;
 * the refusal names those that are. */
static bool check_list_word(const struct verb *verb, struct str word, struct err *err)
{
    SCOPED(buf_fini) struct buf names = BUF_INIT(KIB);
    struct str last = STR_NONE;
    if (str_is(word, "list") || str_is(word, "ls")) {
        return true;
    }
    buf_c(&names, "list");
    for (size_t i = 0; verbs[i] != NULL; i++) {
        struct str second = str_of(verbs[i]->name);
        if (str_is(str_cut(&second, ' '), verb->name) && !str_absent(second)) {
            buf_printf(&names, last.len > 0 ? ", " STR_FMT : "" STR_FMT, STR_ARG(last));
            last = second;
        }
    }
    return err_set(err, ERR_INVALID, "%s " STR_FMT ": there are " STR_FMT " and " STR_FMT,
                   verb->name, STR_ARG(word), STR_ARG(buf_view(&names)), STR_ARG(last));
}

/* The path with the word in its place, and what is asked in its query. */
static void write_path(const struct verb *verb, const void *options, struct str word,
                       struct buf *path)
{
    const struct remote_options *remote = options;
    struct str after = str_of(verb->request.path);
    struct str before = str_cut(&after, '{');
    buf_str(path, before);
    if (!str_absent(after)) {
        uri_encode(path, word);
        buf_str(path, str_from(after, 1)); /* behind the '}' */
    }
    if (remote->limit > 0) {
        buf_printf(path, "?limit=%lld", (long long)MIN(remote->limit, REMOTE_PAGE_MAX));
    }
    if (str_is(STR("GET"), verb->request.method)) {
        option_put_query(verb->options, options, path);
    }
}

static void write_body(const struct verb *verb, const void *options, const struct words *words,
                       struct buf *body)
{
    struct json_writer w = JSON_WRITER(body);
    json_open_object(&w);
    option_put_json(verb->options, options, &w);
    if (verb->request.word != NULL) {
        json_put_str(&w, verb->request.word, words->at[1]);
    }
    json_close_object(&w);
}

/* ---- Tables of answers ---- */

/* A list on its way to the terminal: rows of a table, or items of one JSON array. */
struct listing {
    struct remote *remote;
    const struct column *columns;
    struct paper paper;
    struct table table;
    bool any;
};

static void listing_init(struct listing *listing, struct remote *remote,
                         const struct column *columns)
{
    const char *heads[TABLE_COLUMNS_MAX + 1] = {NULL};
    for (size_t i = 0; columns[i].head != NULL; i++) {
        assert(i < TABLE_COLUMNS_MAX);
        heads[i] = columns[i].head;
    }
    *listing = (struct listing){.remote = remote, .columns = columns, .paper = paper_stdout()};
    table_init(&listing->table, heads, &remote->arena);
    listing->paper.now_ms = remote->now_ms > 0 ? remote->now_ms : listing->paper.now_ms;
    for (size_t i = 0; columns[i].head != NULL; i++) {
        listing->table.spare[i] = columns[i].spare;
    }
}

static void add_row(struct listing *listing, struct str item)
{
    struct arena *arena = &listing->remote->arena;
    for (const struct column *column = listing->columns; column->head != NULL; column++) {
        SCOPED(buf_fini) struct buf cell = BUF_INIT(64 * KIB);
        if (column->write != NULL) {
            column->write(listing->remote, item, column->key, &cell);
            table_add(&listing->table, buf_view(&cell));
        } else if (column->kind == COLUMN_TIME) {
            human_when(&cell, &listing->paper, json_find_str(item, column->key, arena));
            table_add(&listing->table, buf_view(&cell));
        } else {
            bool text = column->kind == COLUMN_TEXT;
            table_add(&listing->table, text ? json_find_str(item, column->key, arena)
                                            : json_find(item, column->key, arena));
        }
    }
}

static bool list_item(void *arg, struct str item, struct err *err)
{
    struct listing *listing = arg;
    (void)err;
    if (listing->remote->json) {
        printf("%s" STR_FMT, listing->any ? ",\n" : "[", STR_ARG(item));
    } else {
        add_row(listing, item);
    }
    listing->any = true;
    return true;
}

static bool print_pages(struct remote *remote, const struct column *columns, struct str path,
                        int64_t limit, struct err *err)
{
    struct listing listing;
    listing_init(&listing, remote, columns);
    bool ok = remote_pages(remote, path, limit, list_item, &listing, err);
    if (ok && remote->json) {
        puts(listing.any ? "]" : "[]");
    } else if (ok) {
        table_print(&listing.table, &listing.paper);
    }
    table_fini(&listing.table);
    return ok;
}

void verb_print_table(struct remote *remote, const struct column *columns, struct str answer)
{
    struct listing listing;
    struct json json;
    struct str item;
    listing_init(&listing, remote, columns);
    json_start(&json, answer, &remote->arena);
    if (json_peek(&json) == JSON_OBJECT) {
        add_row(&listing, answer);
    } else if (json_enter_array(&json, NULL)) {
        while (remote_item(&json, &item)) {
            add_row(&listing, item);
        }
    }
    table_print(&listing.table, &listing.paper);
    table_fini(&listing.table);
}

/* ---- Asking ---- */

void verb_print_removed(struct str id)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(64 * KIB);
    struct json_writer w = JSON_WRITER(&text);
    json_open_object(&w);
    json_put_str(&w, "id", id);
    json_put_bool(&w, "removed", true);
    json_close_object(&w);
    puts(buf_c_text(&text));
}

static void print_answer(struct remote *remote, const struct request *request, struct str answer)
{
    struct str member =
        request->member == NULL ? answer : json_find(answer, request->member, &remote->arena);
    if (remote->json) {
        /* A list is an array, whatever object the API has around it. */
        printf(STR_FMT "\n", STR_ARG(request->columns != NULL ? member : answer));
    } else if (request->print != NULL) {
        request->print(remote, answer);
    } else if (request->columns != NULL) {
        verb_print_table(remote, request->columns, member);
    } else {
        struct str text = remote_text(remote, member);
        printf(STR_FMT "\n", STR_ARG(text));
    }
}

/* What the word in the path stands for, where that is a task, a schedule or a team. */
static bool name_word(struct remote *remote, const struct request *request, struct str *word,
                      struct err *err)
{
    static const char *const nouns[] = {"/api/tasks", "/api/schedules", "/api/teams"};
    struct str path = str_of(request->path);
    for (size_t i = 0; i < ARRAY_LEN(nouns); i++) {
        struct str noun = str_of(nouns[i]);
        if (str_starts(path, noun) && str_starts(str_from(path, noun.len), STR("/{}"))) {
            return remote_name(remote, nouns[i], *word, word, err);
        }
    }
    return true;
}

static bool ask(struct remote *remote, const struct verb *verb, const void *options,
                const struct words *words, struct str word, struct err *err)
{
    const struct remote_options *given = options;
    const struct request *request = &verb->request;
    SCOPED(buf_fini) struct buf path = BUF_INIT(64 * KIB);
    SCOPED(buf_fini) struct buf body = BUF_INIT(REMOTE_BODY_MAX);
    struct str answer;
    bool bare = str_is(STR("GET"), request->method) || str_is(STR("DELETE"), request->method);
    if (!name_word(remote, request, &word, err)) {
        return false;
    }
    write_path(verb, options, word, &path);
    if (!bare) {
        write_body(verb, options, words, &body);
    }
    if (given->limit > 0) {
        return print_pages(remote, request->columns, buf_view(&path), given->limit, err);
    }
    if (!remote_call(remote, request->method, buf_view(&path), bare ? STR_NONE : buf_view(&body),
                     &answer, err)) {
        return !request->each ? false : err_wrap(err, STR_FMT, STR_ARG(word));
    }
    if (remote->json && answer.len == 0) { /* it is gone, and the API has no words for it */
        verb_print_removed(word);
        return true;
    }
    if (request->each && !remote->json) {
        printf(STR_FMT "  ", STR_ARG(word));
    }
    print_answer(remote, request, answer);
    return true;
}

enum exit_status verb_request(const struct verb *verb, const void *options,
                              const struct words *words)
{
    const struct remote_options *given = options;
    SCOPED(remote_close) struct remote remote = {.client = NULL};
    enum exit_status status = EXIT_OK;
    struct err err = ERR_INIT;
    bool named = strchr(verb->request.path, '{') != NULL;
    if (!named && words->count > 0 && !check_list_word(verb, words->at[0], &err)) {
        return verb_usage_as(given->json, &err);
    }
    if (!remote_open(&remote, options, &err)) {
        return verb_fail_as(given->json, &err);
    }
    /* Each word is tried, so that one that is gone does not hold up the others. */
    size_t count = verb->request.each ? words->count : 1;
    for (size_t i = 0; i < count; i++) {
        err = ERR_INIT;
        if (!ask(&remote, verb, options, words, named ? words->at[i] : STR_NONE, &err)) {
            status = verb_fail_as(given->json, &err);
        }
    }
    return status;
}

enum exit_status verb_run(const struct verb *verb, const void *options, const struct words *words)
{
    return verb->run != NULL ? verb->run(options, words) : verb_request(verb, options, words);
}
