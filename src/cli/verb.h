/* cli/verb.h: the commands of `errand`, each one row: what it is called, what it takes, what it
 * teaches, what it does.
 *
 * Most commands are one request to a server. Their rows say that too: method, path, which options
 * are sent and how people see the answer; verb.c does the rest. Commands that are more than that
 * have a run() of their own.
 *
 * main.c finds the verb and fills its struct from its option table; help.c, man.c and completion.c
 * write their texts from the same rows.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLI_VERB_H
#define ERRAND_CLI_VERB_H

#include "cli/human.h"
#include "cli/option.h"
#include "cli/remote.h"

enum exit_status { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* One column of a table of what the server answers. */
struct column {
    const char *head;                                     /* NULL ends the columns */
    const char *key;                                      /* the member that is shown */
    enum { COLUMN_TEXT, COLUMN_VALUE, COLUMN_TIME } kind; /* a string; as JSON has it; "3m ago" */
    /* Or what writes the cell of that key; nothing written shows as "-". */
    void (*write)(struct remote *remote, struct str item, const char *key, struct buf *cell);
    bool spare; /* a narrow terminal can do without */
};

/* What a verb asks of the server, and how people see the answer; --json prints it as it is. */
struct request {
    const char *method; /* of GET the fields are the query, else the body */
    const char *path;   /* "/api/tasks/{}/why": the first word is in the place of {} */
    const char *word;   /* the field that the second word is sent as; NULL: there is none */
    bool each;          /* once for each word; the word stands before its answer */

    /* A table, if there are columns: one row for each item of the list, or for the one object.
     * Lists whose options have a limit are followed page by page. */
    const struct column *columns;
    const char *member; /* the answer's member that is the list, or the text to be shown */
    void (*print)(struct remote *remote, struct str answer); /* or what is shown instead */
};

struct verb {
    const char *name;      /* "push", "queues set" */
    const char *arguments; /* "TYPE [JSON|@FILE|-]" or "" */
    const char *summary;   /* a phrase for the list of commands */
    const char *about;     /* paragraphs for --help and the man page; lines of at most 78 */
    const char *examples;  /* lines: a "# comment", then the command; NULL: none */
    const struct option *options;
    const void *defaults; /* what the struct holds before options are read; NULL: zeroes */
    size_t size;          /* of that struct; with a request it begins with remote_options */
    size_t words_min, words_max;
    struct request request;
    enum exit_status (*run)(const void *options, const struct words *words); /* NULL: request */
};

extern const struct verb *const verbs[]; /* ends with NULL; in the order help shows them */

/* The verb that argv[0], or argv[0] and argv[1], name; *used says how many. NULL: none does. */
const struct verb *verb_find(int argc, char **argv, int *used);

/* Runs a verb: its run(), or its request. */
enum exit_status verb_run(const struct verb *verb, const void *options, const struct words *words);
/* Its request, for a run() that had something to do before. */
enum exit_status verb_request(const struct verb *verb, const void *options,
                              const struct words *words);

/* What the server answered, as a table: a row for each item of a list, or for one object. */
void verb_print_table(struct remote *remote, const struct column *columns, struct str answer);

/* Tells what went wrong on standard error, and returns EXIT_FAILED or EXIT_USAGE. */
enum exit_status verb_fail(const struct err *err);  /* "errand: TEXT (field F)" */
enum exit_status verb_usage(const struct err *err); /* the same for what the user typed */
/* The same; with `json` as the API's error object, in a line. */
enum exit_status verb_fail_as(bool json, const struct err *err);
enum exit_status verb_usage_as(bool json, const struct err *err);
void verb_print_removed(struct str id); /* {"id":…,"removed":true}: --json of what is gone */

/* ---- The verbs, each in the file of its noun ---- */

extern const struct verb team_verb, team_start_verb, team_show_verb, team_watch_verb, team_say_verb,
    team_cancel_verb;
extern const struct verb backup_verb, bench_verb, cancel_verb, completion_verb, doctor_verb,
    documents_verb, edit_verb, events_verb, help_verb, import_crontab_verb, ls_verb, nodes_verb,
    rm_verb, mcp_verb, migrate_verb, move_verb, push_verb, queues_pause_verb, queues_purge_verb,
    queues_resume_verb, queues_set_verb, queues_verb, restore_verb, retry_verb,
    schedule_backfill_verb, schedule_edit_verb, schedule_history_verb, schedule_next_verb,
    schedule_pause_verb, schedule_resume_verb, schedule_rm_verb, schedule_run_verb,
    schedule_show_verb, schedule_verb, schedules_verb, serve_verb, show_verb, stats_verb, top_verb,
    token_create_verb, token_ls_verb, token_revoke_verb, watch_verb, why_verb, work_verb,
    workers_quiet_verb, workers_resume_verb, workers_stop_verb, workers_verb;

#endif
