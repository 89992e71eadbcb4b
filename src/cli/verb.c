/* cli/verb.c: the list of commands. See verb.h.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/verb.h"

#include <stdio.h>

#include "base/buf.h"
#include "cli/human.h"

/* One a line: two that add a verb must not meet. */
/* clang-format off */
const struct verb *const verbs[] = {
    &serve_verb,
    &push_verb,
    &ls_verb,
    &show_verb,
    &why_verb,
    &cancel_verb,
    &retry_verb,
    &watch_verb,
    &work_verb,
    &stats_verb,
    &schedule_verb,
    &schedule_show_verb,
    &schedule_next_verb,
    &schedule_run_verb,
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
    &token_create_verb,
    &token_ls_verb,
    &token_revoke_verb,
    &migrate_verb,
    &doctor_verb,
    &bench_verb,
    &completion_verb,
    &help_verb,
    NULL,
};
/* clang-format on */

static bool names(const struct verb *verb, int argc, char **argv, int *used)
{
    struct str second = str_of(verb->name);
    struct str first = str_cut(&second, ' ');
    *used = str_absent(second) ? 1 : 2;
    return argc >= *used && str_is(first, argv[0]) && (*used == 1 || str_is(second, argv[1]));
}

const struct verb *verb_find(int argc, char **argv, int *used)
{
    const struct verb *found = NULL;
    int words, best = 0;
    for (size_t i = 0; verbs[i] != NULL; i++) {
        /* "queues set" is more than "queues". */
        if (names(verbs[i], argc, argv, &words) && words > best) {
            found = verbs[i];
            best = words;
        }
    }
    *used = best;
    return found;
}

static void say(const struct err *err)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(4 * KIB);
    human_clean(&text, str_of(err->text));
    if (err->field[0] != '\0') {
        buf_c(&text, " (field ");
        human_clean(&text, str_of(err->field));
        buf_c(&text, ")");
    }
    fflush(stdout);
    fprintf(stderr, "errand: %s\n", buf_c_text(&text));
}

enum exit_status verb_fail(const struct err *err)
{
    say(err);
    return EXIT_FAILED;
}

enum exit_status verb_usage(const struct err *err)
{
    say(err);
    return EXIT_USAGE;
}
