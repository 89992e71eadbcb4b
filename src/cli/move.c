/* cli/move.c: `errand move`: everything from one stopped store into an empty one.
 *
 * Rows go in one transaction of the target (store/move.h). What lies beside an embedded store comes
 * along: tokens become rows of a shared one and the reverse; documents are files of a data folder
 * in both worlds, and are copied where a folder is known. Files are in place before the
 * transaction ends, and are only files without it.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/move.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "cli/move_files.h"
#include "cli/verb.h"
#include "store/backup.h"
#include "store/move.h"

#define TOLD_EVERY_US 100000
#define OWNER_FOLDER  0700

struct move_options {
    struct str from, to, data;
    bool json;
};

struct side {
    struct str url;
    const char *shown;  /* the same for people: a password is nobody's business */
    const char *file;   /* of an embedded store; NULL: it is shared */
    const char *folder; /* where documents lie; NULL: not known */
    struct store *store;
};

struct moving {
    const struct move_options *given;
    struct arena arena;
    struct side from, to;
    struct steward_token *tokens;
    size_t tokens_count;
    int64_t documents;
    bool stay; /* documents: they lie in the right folder, or nobody said which one that is */
    bool terminal;
    int64_t told_us;
};

/* ---- Both ends ---- */

static bool read_side(struct moving *moving, const char *option, struct str url, struct side *out,
                      struct err *err)
{
    struct arena *arena = &moving->arena;
    *out = (struct side){.url = url};
    if (str_starts(url, STR("sqlite:")) && url.len > strlen("sqlite:")) {
        out->file = arena_c_text(arena, str_from(url, strlen("sqlite:")));
        out->folder = dirname(arena_c_text(arena, str_of(out->file)));
        out->shown = url.ptr;
        return true;
    }
    if (!str_starts(url, STR("postgres://")) && !str_starts(url, STR("postgresql://"))) {
        return err_set(err, ERR_INVALID, "%s must be sqlite:DIR/errand.db or postgres://…", option);
    }
    const char *host = strchr(url.ptr, '/') + 2;
    const char *path = strpbrk(host, "/?"), *at = strrchr(host, '@');
    host = at != NULL && (path == NULL || at < path) ? at + 1 : host;
    out->shown = arena_printf(arena, "postgres://%.*s", (int)strcspn(host, "?"), host).ptr;
    out->folder = str_absent(moving->given->data) ? NULL : moving->given->data.ptr;
    return true;
}

static bool open_source(struct side *side, struct err *err)
{
    if (side->file != NULL && access(side->file, R_OK) != 0) {
        return err_set(err, ERR_INVALID, "cannot read %s: %s", side->file, strerror(errno));
    }
    const struct store_options options = {.url = side->url, .no_migrate = true, .read_only = true};
    return store_open(&options, &side->store, err) || err_wrap(err, "the source");
}

static bool open_target(struct side *side, struct err *err)
{
    if (side->file != NULL && mkdir(side->folder, OWNER_FOLDER) != 0 && errno != EEXIST) {
        return err_set(err, ERR_INVALID, "cannot make %s: %s", side->folder, strerror(errno));
    }
    const struct store_options options = {.url = side->url, .no_migrate = true, .makes_new = true};
    return store_open(&options, &side->store, err) || err_wrap(err, "the target");
}

/* ---- What lies beside them ---- */

static bool read_tokens(struct moving *moving, struct err *err)
{
    struct steward *steward = NULL;
    if (moving->from.file != NULL) {
        return files_tokens_read(moving->from.folder, &moving->arena, &moving->tokens,
                                 &moving->tokens_count, err);
    }
    bool ok = steward_open(moving->from.store, &steward, err) &&
              steward_tokens(steward, &moving->arena, &moving->tokens, &moving->tokens_count, err);
    steward_close(steward);
    return ok;
}

static const char *documents_of(struct moving *moving, const struct side *side)
{
    return arena_printf(&moving->arena, "%s/documents", side->folder).ptr;
}

static bool copy_files(struct moving *moving, bool only_look, struct err *err)
{
    const struct side *from = &moving->from, *to = &moving->to;
    struct stat one, other;
    int64_t count = 0;
    moving->stay = from->folder == NULL || to->folder == NULL ||
                   (stat(from->folder, &one) == 0 && stat(to->folder, &other) == 0 &&
                    one.st_dev == other.st_dev && one.st_ino == other.st_ino);
    const char *source = from->folder == NULL ? NULL : documents_of(moving, from);
    const char *target = moving->stay ? "" : documents_of(moving, to);
    bool ok =
        (to->file == NULL ||
         files_tokens_write(to->folder, moving->tokens, moving->tokens_count, only_look, err)) &&
        (source == NULL || files_copy(source, target, only_look || moving->stay, &count, err));
    moving->documents = count;
    return ok;
}

static bool finish(void *arg, struct err *err)
{
    return copy_files(arg, false, err);
}

/* ---- What people see ---- */

static void on_progress(void *arg, int64_t done, int64_t all)
{
    struct moving *moving = arg;
    int64_t now_us = clock_real_mono_us();
    if (moving->terminal && (now_us - moving->told_us > TOLD_EVERY_US || done == all)) {
        moving->told_us = now_us;
        fprintf(stderr, "\r%lld of %lld tasks", (long long)done, (long long)all);
        fputs(done == all ? "\r\033[K" : "", stderr);
    }
}

/* In the order in which they are shown. */
static const struct thing {
    const char *name;  /* in JSON */
    const char *words; /* for people */
    enum moved what;
    int kind; /* -1: of all kinds */
} things[] = {
    {"tasks", "tasks", MOVED_TASKS, -1},
    {"attempts", "earlier attempts", MOVED_ATTEMPTS, -1},
    {"logs", "pieces of logs", MOVED_LOGS, -1},
    {"dependencies", "dependencies", MOVED_DEPENDENCIES, -1},
    {"held", "documents held", MOVED_HELD, -1},
    {"queues", "queues with settings", MOVED_QUEUES, -1},
    {"schedules", "schedules", MOVED_RECORDS, RECORD_SCHEDULE},
    {"executions", "executions", MOVED_RECORDS, RECORD_EXECUTION},
    {"notifications", "notifications", MOVED_RECORDS, RECORD_NOTIFICATION},
    {"teams", "teams", MOVED_RECORDS, RECORD_TEAM},
    {"messages", "messages", MOVED_RECORDS, RECORD_MESSAGE},
    {"usage", "records of usage", MOVED_RECORDS, RECORD_USAGE},
    {"cloudQueues", "queues of Cloud Tasks", MOVED_RECORDS, RECORD_CLOUD_QUEUE},
    {"cloudNames", "used names of Cloud Tasks", MOVED_RECORDS, RECORD_CLOUD_NAME},
    {"unique", "unique jobs", MOVED_RECORDS, RECORD_UNIQUE},
    {"removed", "removed schedules", MOVED_RECORDS, RECORD_REMOVED},
    {"follows", "ends to be told", MOVED_RECORDS, RECORD_FOLLOW},
    {"tokens", "tokens", MOVED_TOKENS, -1},
};

static int64_t amount(const struct thing *thing, const struct move_counts *counts)
{
    return thing->kind < 0 ? move_counts_sum(counts, thing->what)
                           : counts->at[thing->what][thing->kind];
}

static void print_json(struct moving *moving, const struct move_told *told)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(MIB);
    struct json_writer w = JSON_WRITER(&text);
    json_open_object(&w);
    json_put_c(&w, "from", moving->from.shown);
    json_put_c(&w, "to", moving->to.shown);
    for (size_t i = 0; i < ARRAY_LEN(things); i++) {
        json_put_i64(&w, things[i].name, amount(&things[i], &told->counts));
    }
    json_put_object(&w, "states");
    for (int state = 0; state < TASK_STATES; state++) {
        json_put_i64(&w, task_state_name((enum task_state)state),
                     told->counts.at[MOVED_TASKS][state]);
    }
    json_close_object(&w);
    json_put_i64(&w, "lost", told->lost);
    json_put_i64(&w, "documents", moving->stay ? 0 : moving->documents);
    json_close_object(&w);
    puts(buf_c_text(&text));
}

static void print_files(const struct moving *moving)
{
    long long documents = moving->documents;
    const char *plural = documents == 1 ? "" : "s";
    if (moving->from.folder == NULL) {
        puts("Documents that document.append wrote are files of the nodes' data folders: with "
             "--data "
             "DIR\nthose of DIR come along.");
    } else if (documents > 0 && !moving->stay) {
        printf("%lld document%s: copied to %s/documents.\n", documents, plural, moving->to.folder);
    } else if (documents > 0) {
        printf("%lld document%s: in %s/documents, as before. Each node works on its own data "
               "folder:\nserve with --data %s, or copy them to where the nodes keep theirs.\n",
               documents, plural, moving->from.folder, moving->from.folder);
    }
}

static void print_table(struct moving *moving, const struct move_told *told)
{
    static const char *const heads[] = {"WHAT", "MOVED", NULL};
    struct paper paper = paper_stdout();
    SCOPED(table_fini) struct table table;
    table_init(&table, heads, &moving->arena);
    for (size_t i = 0; i < ARRAY_LEN(things); i++) {
        int64_t n = amount(&things[i], &told->counts);
        if (n > 0 || things[i].what == MOVED_TASKS) {
            table_add(&table, str_of(things[i].words));
            table_add(&table, arena_printf(&moving->arena, "%lld", (long long)n));
        }
    }
    table_print(&table, &paper);
    printf("\nEverything of %s is in %s now, counted on both sides.\n", moving->from.shown,
           moving->to.shown);
    if (told->lost > 0) {
        printf("%lld attempt%s ran when the source was stopped: lost, and tried again under the "
               "task's backoff\nas soon as a server starts on the target.\n",
               (long long)told->lost, told->lost == 1 ? "" : "s");
    }
    if (told->counts.at[MOVED_TOKENS][0] > 0) {
        printf("Tokens are kept in %s now.\n",
               moving->to.file == NULL ? "the database" : "the file tokens of its folder");
    }
    print_files(moving);
}

/* ---- What was left behind ---- */

static bool count_tasks(struct store *store, int64_t *out, struct err *err)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct store_counts counts;
    if (!store_counts(store, &arena, &counts, err)) {
        return false;
    }
    *out = 0;
    for (int state = 0; state < TASK_STATES; state++) {
        *out += counts.others[state];
        for (size_t i = 0; i < counts.count; i++) {
            *out += counts.at[i].tasks[state];
        }
    }
    return true;
}

/* What an older version left cannot be opened without being migrated: then nobody knows how many.
 */
void move_remind(struct store *store, const struct config *config)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct str url =
        arena_printf(&arena, "sqlite:" STR_FMT "/" BACKUP_DATABASE, STR_ARG(config->data));
    const char *file = url.ptr + strlen("sqlite:");
    struct store *left = NULL;
    int64_t here = 0, there = 0;
    if (!store_shared(store) || access(file, R_OK) != 0 || !count_tasks(store, &here, NULL) ||
        here > 0) {
        return;
    }
    const struct store_options options = {.url = url, .no_migrate = true, .read_only = true};
    bool known = store_open(&options, &left, NULL) && count_tasks(left, &there, NULL);
    store_close(left);
    if (known && there > 0) {
        log_warn("the store is empty, and %s holds %lld tasks that nobody works on: stop this "
                 "server and run `errand move --from %s --to URL` with the URL of its store",
                 file, (long long)there, url.ptr);
    } else if (!known) {
        log_warn("the store is empty, and %s is of an older version: if it holds tasks, stop this "
                 "server, run `errand migrate --data " STR_FMT " --store sqlite:" BACKUP_DATABASE
                 "` and then `errand move --from %s --to URL` with the URL of its store",
                 file, STR_ARG(config->data), url.ptr);
    }
}

/* ---- The command ---- */

static bool run(struct moving *moving, struct move_told *told, struct err *err)
{
    const struct move_options *given = moving->given;
    if (!read_side(moving, "--from", given->from, &moving->from, err) ||
        !read_side(moving, "--to", given->to, &moving->to, err) ||
        !open_source(&moving->from, err) || !open_target(&moving->to, err) ||
        !read_tokens(moving, err) || !copy_files(moving, true, err)) {
        return false;
    }
    const struct move move = {.from = moving->from.store,
                              .to = moving->to.store,
                              .tokens = moving->tokens,
                              .tokens_count = moving->tokens_count,
                              .progress = on_progress,
                              .finish = finish,
                              .arg = moving};
    return store_move(&move, told, err);
}

static enum exit_status run_move(const void *options, const struct words *words)
{
    const struct move_options *given = options;
    struct moving moving = {.given = given, .arena = ARENA_INIT, .terminal = isatty(2) != 0};
    struct move_told told;
    struct err err = ERR_INIT;
    (void)words;
    if (str_absent(given->from) || str_absent(given->to)) {
        err_set(&err, ERR_INVALID, "%s is missing: sqlite:DIR/errand.db or postgres://…",
                str_absent(given->from) ? "--from" : "--to");
        return verb_usage_as(given->json, &err);
    }
    bool ok = run(&moving, &told, &err);
    store_close(moving.to.store);
    store_close(moving.from.store);
    if (ok) {
        (given->json ? print_json : print_table)(&moving, &told);
    }
    arena_fini(&moving.arena);
    return ok ? EXIT_OK : verb_fail_as(given->json, &err);
}

static const struct option move_options[] = {
    {"from", "URL", "the stopped store: sqlite:DIR/errand.db or postgres://…",
     OPTION_TEXT(struct move_options, from)},
    {"to", "URL", "the empty store; a folder or schema that is not there is made",
     OPTION_TEXT(struct move_options, to)},
    {"data", "DIR", "the data folder of the nodes on PostgreSQL, for their documents",
     OPTION_TEXT(struct move_options, data)},
    {"json", NULL, "print what was moved as JSON, for scripts",
     OPTION_SET(struct move_options, json)},
    OPTION_END,
};

const struct verb move_verb = {
    .name = "move",
    .arguments = "",
    .summary = "move everything from one stopped store into an empty one",
    .about =
        "Between an embedded store and PostgreSQL, in either direction, or between two of a\n"
        "kind: tasks live and ended, attempts, keys, schedules, executions, teams, messages,\n"
        "notifications, usage, tokens and the settings of queues. All of it arrives, or nothing:\n"
        "it is one transaction, and both sides are counted before it ends. The source stays as\n"
        "it is. Attempts that ran are lost and tried again under their task's backoff.\n\n"
        "Servers on either side must be stopped. A target that holds anything is refused, and a\n"
        "source whose schema is old: errand migrate brings it up to date. A move that was cut\n"
        "short is simply begun again.\n\n"
        "Tokens of a data folder become the fleet's, and the reverse. Documents that\n"
        "document.append wrote are files of a data folder; give the folder of the nodes with\n"
        "--data to have them copied.",
    .examples = "# from one machine to a fleet\n"
                "errand move --from sqlite:/var/lib/errand/errand.db --to postgres://db/errand\n"
                "# and back\n"
                "errand move --from postgres://db/errand --to sqlite:new/errand.db",
    .options = move_options,
    .size = sizeof(struct move_options),
    .run = run_move,
};
