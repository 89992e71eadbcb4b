/* cli/backup.c: `errand backup` and `errand restore`: the data folder in one file, and back.
 *
 * SPDX-License-Identifier: MIT */
#include "store/backup.h"

#include <stdio.h>

#include "cli/setup.h"
#include "cli/verb.h"
#include "store/store.h"

#define FINDINGS_MAX 20 /* violations that are shown one by one */

struct backup {
    struct setup_options setup;
    bool check;
};

static void say(const char *done, const char *what, const struct backup_told *told)
{
    SCOPED(buf_fini) struct buf size = BUF_INIT(KIB);
    human_bytes(&size, told->bytes);
    printf("errand: %s %s (%s, %zu file%s beside the database)\n", done, what, buf_c_text(&size),
           told->files, told->files == 1 ? "" : "s");
}

/* ---- Making one ---- */

static bool write_backup(struct config *config, const char *to, struct err *err)
{
    static const char *const names[] = {"tokens", "documents", NULL};
    struct backup_told told;
    struct str url;
    if (!setup_store(config, &url, err)) {
        return false;
    }
    if (!str_starts(url, STR("sqlite:"))) {
        return err_set(err, ERR_INVALID,
                       "the store is PostgreSQL: back it up with pg_dump, and restore it with "
                       "pg_restore into an empty database");
    }
    const char *database = arena_c_text(&config->arena, str_from(url, strlen("sqlite:")));
    if (!backup_write(database, config->data.ptr, names, to, &told, err)) {
        return false;
    }
    say("wrote", to, &told);
    return true;
}

/* ---- Looking at one ---- */

static void on_finding(void *arg, const char *invariant, const char *sentence)
{
    size_t *count = arg;
    if ((*count)++ < FINDINGS_MAX) {
        printf("%s: %s\n", invariant, sentence);
    }
}

static bool check_backup(struct config *config, const char *path, struct err *err)
{
    struct backup_told told;
    struct store *store = NULL;
    size_t findings = 0;
    if (!backup_look(path, &told, err)) {
        return false;
    }
    const struct store_options options = {.url = arena_printf(&config->arena, "sqlite:%s", path),
                                          .no_migrate = true,
                                          .read_only = true};
    bool ok = store_open(&options, &store, err) && store_check(store, on_finding, &findings, err);
    store_close(store);
    if (ok && findings == 0) {
        say("every invariant holds in", path, &told);
    }
    return ok && (findings == 0 || err_set(err, ERR_REFUSED, "%s: %zu violations", path, findings));
}

static enum exit_status run_backup(const void *options, const struct words *words)
{
    const struct backup *given = options;
    SCOPED(config_fini) struct config config = {.arena = ARENA_INIT};
    struct err err = ERR_INIT;
    const char *file = words->at[0].ptr;
    bool ok = given->check
                  ? check_backup(&config, file, &err)
                  : setup_config(&given->setup, &config, &err) && write_backup(&config, file, &err);
    return ok ? EXIT_OK : verb_fail(&err);
}

static const struct option backup_options[] = {
    {"check", NULL, "look at a backup instead: does every invariant hold in it?",
     OPTION_SET(struct backup, check)},
    SETUP_OPTIONS(struct backup),
    OPTION_END,
};

const struct verb backup_verb = {
    .name = "backup",
    .arguments = "FILE",
    .summary = "copy the data folder into one file, beside a running server too",
    .about = "Writes everything of an embedded store into one new file: tasks, schedules, teams,\n"
             "tokens, and the documents that document.append wrote, as they are at one moment. A\n"
             "server may run meanwhile and is not held up. The file is its owner's alone.\n\n"
             "With --check it opens a backup and looks whether every invariant holds in it.\n"
             "PostgreSQL has pg_dump for this.",
    .examples = "# every night\nerrand backup --data /var/lib/errand /backup/errand-$(date +%F)\n"
                "# is it good?\nerrand backup --check /backup/errand-2027-03-01",
    .options = backup_options,
    .size = sizeof(struct backup),
    .words_min = 1,
    .words_max = 1,
    .run = run_backup,
};

/* ---- And back ---- */

struct restore {
    struct str data;
};

static enum exit_status run_restore(const void *options, const struct words *words)
{
    const struct restore *given = options;
    struct err err = ERR_INIT;
    struct backup_told told;
    if (str_absent(given->data)) {
        err_set(&err, ERR_INVALID, "--data is missing: into which new folder?");
        return verb_usage(&err);
    }
    if (!backup_restore(words->at[0].ptr, given->data.ptr, &told, &err)) {
        return verb_fail(&err);
    }
    say("restored", given->data.ptr, &told);
    return EXIT_OK;
}

static const struct option restore_options[] = {
    {"data", "DIR", "the new data folder; made if it is not there, else it must be empty",
     OPTION_TEXT(struct restore, data)},
    OPTION_END,
};

const struct verb restore_verb = {
    .name = "restore",
    .arguments = "FILE",
    .summary = "make a data folder of a backup",
    .about =
        "Puts a backup into a new data folder, from which errand serve goes on: attempts that\n"
        "ran when the backup was made are lost and tried again.",
    .examples = "# and go on from there\n"
                "errand restore /backup/errand-2027-03-01 --data /var/lib/errand",
    .options = restore_options,
    .size = sizeof(struct restore),
    .words_min = 1,
    .words_max = 1,
    .run = run_restore,
};
