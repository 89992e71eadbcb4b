/* tests/work/test_command.c: commands: what goes in, what comes out, what is left behind.
 *
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stand.h"

#define MANY 1000

static void open_stand(struct stand *s, const char *script, struct stand_options options)
{
    static const struct exec_env env[] = {{{"COLOUR", 6}, {"deep blue", 9}}};
    struct exec_command command = {.type = STR("x"),
                                   .line = str_of(script),
                                   .folder = STR(SCRIPTS),
                                   .env = env,
                                   .env_count = 1,
                                   .files_max = 64,
                                   .cpu_max_ms = 1500};
    options.commands = &command;
    options.commands_count = 1;
    stand_open(s, &options);
}

/* Runs one task of the script; the stand is left open for a closer look. */
static struct task run(struct stand *s, const char *script, struct stand_order order,
                       enum task_state end)
{
    open_stand(s, script, (struct stand_options){0});
    order.type = "x";
    return stand_do(s, order, end);
}

#define RUN(script, end, ...)                                                                      \
    SCOPED(stand_close) struct stand s;                                                            \
    struct task task = run(&s, script, (struct stand_order){__VA_ARGS__}, end)

/* ---- In and out ---- */

TEST(the_payload_is_standard_input_and_standard_output_the_result)
{
    RUN("cat", TASK_COMPLETED, .payload = "{\"a\" : [1, 2]}");
    CHECK_STR(task.result, "{\"a\" : [1, 2]}");
    CHECK_STR(task.worker, "errand:exec:1");
}

TEST(a_payload_of_a_mebibyte_arrives_whole)
{
    char *payload = malloc(MIB + 1);
    memset(payload, 'a', MIB);
    payload[MIB] = '\0';
    RUN("wc -c", TASK_COMPLETED, .payload = payload, .raw = true);
    free(payload);
    CHECK_STR(task.result, "1048576");
}

TEST(output_that_is_no_json_becomes_a_string)
{
    RUN("echo 'all \"good\"'", TASK_COMPLETED);
    CHECK_STR(task.result, "\"all \\\"good\\\"\"");
}

TEST(no_output_is_no_result)
{
    RUN("true", TASK_COMPLETED, .payload = "1");
    CHECK(str_absent(task.result));
}

TEST(too_much_output_fails_with_a_reason)
{
    RUN("head -c 1100000 /dev/zero", TASK_FAILED);
    CHECK_STR(task.error.code, "output_too_large");
}

TEST(a_command_is_found_relative_to_its_folder_and_runs_there)
{
    RUN("./hello.sh", TASK_COMPLETED);
    CHECK_STR(task.result, "\"hello from " SCRIPTS "\"");
}

TEST(the_example_in_the_tutorial_works)
{
    RUN(EXAMPLES "/checksum.sh", TASK_COMPLETED, .payload = "\"/dev/null\"");
    CHECK_STR(task.result, "{\"file\":\"/dev/null\",\"sha256\":"
                           "\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"}");
    task =
        stand_do(&s, (struct stand_order){.type = "x", .payload = "\"/nowhere\"", .max_retries = 3},
                 TASK_FAILED);
    CHECK_STR(task.error.message, "exit status 100: there is no file /nowhere");
    CHECK_EQ(task.attempt, 1);
}

TEST(what_cannot_be_started_fails_and_says_why)
{
    RUN("./not-there.sh", TASK_FAILED);
    CHECK_STR(task.error.code, "spawn_failed");
    CHECK(strstr(task.error.message.ptr, "No such file or directory") != NULL);
}

TEST(progress_and_log_lines_come_on_descriptor_3)
{
    RUN("sh -c 'echo log one two >&3; echo progress 42.5 nearly there >&3; echo nonsense >&3; "
        "echo log >&3; echo progress lots >&3'",
        TASK_COMPLETED);
    CHECK_STR(stand_log(&s, task.id), "one two\n\n");
    CHECK(task.progress == 42.5);
    CHECK_STR(task.progress_message, "nearly there");
}

TEST(lines_come_while_the_command_runs)
{
    SCOPED(stand_close) struct stand s;
    open_stand(&s, "sh -c 'echo log begun >&3; exec sleep 1000'", (struct stand_options){0});
    struct task_id id = stand_create(&s, "x");
    stand_until_log(&s, id, "begun");
    stand_cancel(&s, id);
    stand_until(&s, id, TASK_CANCELLED);
}

/* ---- Around it ---- */

TEST(the_environment_is_clean)
{
    char want[1024], id[TASK_ID_TEXT];
    setenv("SECRET", "1", 1);
    RUN("sh -c 'env -u PWD -u _ -u SHLVL -u OLDPWD | sort'", TASK_COMPLETED, .document = "plan");
    snprintf(
        want, sizeof want,
        "\"COLOUR=deep blue\\nERRAND_ATTEMPT=1\\nERRAND_DOCUMENT_ID=plan\\nERRAND_TASK_ID=%s\\n"
        "ERRAND_TASK_TYPE=x\\nHOME=%s\\nLANG=%s\\nPATH=%s\"",
        id_text(task.id, id).ptr, getenv("HOME") == NULL ? "/" : getenv("HOME"),
        getenv("LANG") == NULL ? "C.UTF-8" : getenv("LANG"), getenv("PATH"));
    CHECK_STR(task.result, want);
}

TEST(only_the_first_four_descriptors_are_open)
{
    RUN("sh -c 'for i in 3 4 5 6 7 8 9 10 11 12; do [ -e /proc/$$/fd/$i ] && echo $i; done; :'",
        TASK_COMPLETED);
    CHECK_STR(task.result, "3");
}

TEST(a_command_gains_no_privileges_and_has_its_limits)
{
    RUN("sh -c 'ulimit -n; ulimit -t; grep NoNewPrivs /proc/self/status'", TASK_COMPLETED);
    CHECK_STR(task.result, "\"64\\n2\\nNoNewPrivs:\\t1\"");
}

TEST(a_command_gets_no_more_memory_than_its_limit)
{
    SCOPED(stand_close) struct stand s;
    /* dd asks for its block at once: half of the limit is there, twice the limit is not. */
    struct exec_command command = {.type = STR("x"),
                                   .line = STR("sh -c 'read n; exec dd if=/dev/zero of=/dev/null "
                                               "count=1 bs=$n'"),
                                   .memory_max = 64 * (int64_t)MIB};
    stand_open(&s, &(struct stand_options){.commands = &command, .commands_count = 1});
    stand_do(&s, (struct stand_order){.type = "x", .payload = "32000000"}, TASK_COMPLETED);
    struct task task =
        stand_do(&s, (struct stand_order){.type = "x", .payload = "128000000"}, TASK_FAILED);
    CHECK_STR(task.error.code, "command_failed");
    CHECK(strstr(task.error.message.ptr, "memory") != NULL);
}

TEST(a_command_that_spends_its_processor_time_is_killed)
{
    RUN("sh -c 'while :; do :; done'", TASK_FAILED);
    CHECK(strstr(task.error.message.ptr, "killed by signal") != NULL);
}

/* ---- How it ends ---- */

TEST(a_failing_command_is_tried_again_and_its_last_words_are_kept)
{
    RUN("sh -c 'echo oh >&2; echo no file here >&2; exit 3'", TASK_FAILED, .max_retries = 1);
    CHECK_EQ(task.attempt, 2);
    CHECK_STR(task.error.code, "command_failed");
    CHECK_STR(task.error.message, "exit status 3: no file here");
    CHECK_STR(task.error.detail, "{\"exitStatus\":3,\"stderr\":\"oh\\nno file here\\n\"}");
}

TEST(exit_status_100_means_do_not_retry)
{
    RUN("sh -c 'exit 100'", TASK_FAILED, .max_retries = 5);
    CHECK_EQ(task.attempt, 1);
}

TEST(a_command_that_dies_of_a_signal_says_which)
{
    RUN("sh -c 'kill -9 $$'", TASK_FAILED);
    CHECK_STR(task.error.message, "killed by signal 9 (Killed)");
    CHECK_STR(task.error.detail, "{\"signal\":9}");
}

TEST(the_end_of_long_complaints_is_kept)
{
    RUN("sh -c 'seq 100000 >&2; exit 1'", TASK_FAILED);
    CHECK_STR(task.error.message, "exit status 1: 100000");
    CHECK(task.error.detail.len < 8 * KIB);
}

/* ---- How it is stopped ---- */

static pid_t logged_pid(struct stand *s, struct task_id id)
{
    stand_until_log(s, id, "pid ");
    struct str log = stand_log(s, id);
    return (pid_t)atoi(strstr(log.ptr, "pid ") + 4);
}

static bool is_there(pid_t pid)
{
    return kill(pid, 0) == 0 || errno != ESRCH;
}

TEST(a_cancelled_command_gets_SIGTERM_and_is_CANCELLED)
{
    SCOPED(stand_close) struct stand s;
    open_stand(&s, "sh -c 'echo log pid $$ >&3; exec sleep 1000'", (struct stand_options){0});
    struct task_id id = stand_create(&s, "x", .document = "plan");
    pid_t pid = logged_pid(&s, id);
    stand_cancel(&s, id);
    stand_until(&s, id, TASK_CANCELLED);
    CHECK(!is_there(pid));
    CHECK(!stand_document(&s, "plan").locked);
}

TEST(a_command_that_completes_although_it_was_cancelled_is_COMPLETED)
{
    SCOPED(stand_close) struct stand s;
    open_stand(
        &s, "sh -c 'trap \"echo 7; kill %1; exit 0\" TERM; sleep 1000 & echo log pid $$ >&3; wait'",
        (struct stand_options){0});
    struct task_id id = stand_create(&s, "x");
    logged_pid(&s, id);
    stand_cancel(&s, id);
    stand_until(&s, id, TASK_COMPLETED);
    CHECK_STR(stand_task(&s, id).task.result, "7");
}

TEST(a_command_that_ignores_SIGTERM_is_killed_with_its_children_after_the_grace_period)
{
    SCOPED(stand_close) struct stand s;
    open_stand(
        &s, "sh -c 'trap \"\" TERM; sleep 1000 & echo log pid $! >&3; sh -c \"sleep 1000 & wait\"'",
        (struct stand_options){.grace_ms = 30});
    struct task_id id = stand_create(&s, "x", .document = "plan", .timeout_ms = 500);
    pid_t child = logged_pid(&s, id);
    CHECK(is_there(child));
    stand_until(&s, id, TASK_TIMEOUT);
    CHECK(!is_there(child));
    CHECK(!stand_document(&s, "plan").locked);
}

TEST(children_that_a_command_leaves_behind_end_with_it)
{
    RUN("sh -c 'sleep 1000 & echo log pid $! >&3; exit 0'", TASK_COMPLETED);
    CHECK(!is_there(logged_pid(&s, task.id)));
}

TEST(children_in_a_session_of_their_own_end_with_it_too)
{
    RUN("sh -c 'setsid -f sh -c \"echo log pid \\$\\$ >&3; echo go; exec sleep 1000\" | "
        "{ read go; exit 0; }'",
        TASK_COMPLETED);
    CHECK(!is_there(logged_pid(&s, task.id)));
}

TEST(a_drain_gives_back_a_command_that_does_not_end_in_time)
{
    SCOPED(stand_close) struct stand s;
    open_stand(&s, "sh -c 'trap \"\" TERM; echo log pid $$ >&3; while :; do sleep 1; done'",
               (struct stand_options){.grace_ms = 30});
    struct task_id id = stand_create(&s, "x", .max_retries = 1);
    pid_t pid = logged_pid(&s, id);
    workforce_quiet(s.work);
    stand_rested(&s);
    CHECK(!is_there(pid));
    CHECK_EQ(stand_task(&s, id).task.state, TASK_QUEUED);
    CHECK_EQ(stand_task(&s, id).task.retries, 0);
}

static FILE *open_children(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    return fopen(path, "r");
}

/* The starter. */
static pid_t only_child(pid_t pid)
{
    int child = 0, other = 0;
    FILE *list = open_children(pid);
    CHECK(list != NULL);
    CHECK_EQ(fscanf(list, "%d %d", &child, &other), 1);
    fclose(list);
    return (pid_t)child;
}

static int zombies_below(pid_t pid)
{
    int child, count = 0;
    FILE *list = open_children(pid);
    CHECK(list != NULL);
    while (fscanf(list, "%d", &child) == 1) {
        char path[64], state = ' ';
        snprintf(path, sizeof path, "/proc/%d/stat", child);
        FILE *stat = fopen(path, "r");
        if (stat != NULL) {
            CHECK(fscanf(stat, "%*d (%*[^)]) %c", &state) == 1 || feof(stat) || ferror(stat));
            fclose(stat);
        }
        count += state == 'Z';
    }
    fclose(list);
    return count;
}

TEST(a_thousand_commands_leave_no_zombie)
{
    SCOPED(stand_close) struct stand s;
    struct task_id ids[MANY];
    siginfo_t info = {0};
    open_stand(&s, "/bin/true", (struct stand_options){.workers = 4});
    for (int i = 0; i < MANY; i++) {
        ids[i] = stand_create(&s, "x");
    }
    stand_until(&s, ids[MANY - 1], TASK_COMPLETED);
    workforce_quiet(s.work);
    stand_rested(&s);
    CHECK_EQ(waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT), 0); /* the starter lives */
    CHECK_EQ(info.si_pid, 0);
    CHECK_EQ(zombies_below(only_child(getpid())), 0);
}
