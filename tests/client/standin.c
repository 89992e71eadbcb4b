/* tests/client/standin.c: a program that plays a server of others'. See standin.h.
 *
 * SPDX-License-Identifier: MIT */
#include "standin.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "wire/json.h"

extern char **environ;

/* ---- Life ---- */

static void spawn(struct standin *s, char *const *argv, int in, int out)
{
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    assert_int_equal(posix_spawnp(&s->pid, argv[0], &actions, NULL, argv, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
}

static void read_line(struct standin *s)
{
    size_t len = 0;
    while (len < sizeof s->line - 1 && read(s->out, s->line + len, 1) == 1 &&
           s->line[len] != '\n') {
        len++;
    }
    s->line[len] = '\0';
    assert_non_null(strstr(s->line, ": ready on "));
}

/* Its control port is on the same server as `on`, unless it names another. */
static void open_control(struct standin *s)
{
    struct err err = ERR_INIT;
    struct str url = standin_word(s, "control");
    url = str_absent(url) ? standin_word(s, "on") : url;
    url.len -= str_ends(url, STR("/v1")) ? 3 : 0;
    CHECK_OK(client_open(&(struct client_options){.url = url}, &s->control, &err));
}

void standin_open(struct standin *s, const char *script, const char *const *args)
{
    int in[2], out[2];
    char path[1024];
    char *argv[STANDIN_ARGS_MAX + 3] = {PYTHON, path};
    snprintf(path, sizeof path, "%s/%s", STANDINS, script);
    for (size_t i = 0; args != NULL && args[i] != NULL; i++) {
        assert_true(i < STANDIN_ARGS_MAX);
        argv[i + 2] = (char *)args[i];
    }
    *s = (struct standin){.arena = ARENA_INIT};
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    spawn(s, argv, in[0], out[1]);
    close(in[0]);
    close(out[1]);
    s->in = in[1];
    s->out = out[0];
    read_line(s);
    open_control(s);
}

void standin_close(struct standin *s)
{
    client_close(s->control);
    close(s->in);
    close(s->out);
    assert_int_equal(waitpid(s->pid, NULL, 0), s->pid);
    arena_fini(&s->arena);
}

struct str standin_word(struct standin *s, const char *name)
{
    struct str rest = str_of(s->line);
    while (!str_absent(rest)) {
        if (str_is(str_cut(&rest, ' '), name)) {
            return str_cut(&rest, ' ');
        }
    }
    return STR_NONE;
}

/* ---- Control ---- */

static struct str call(struct standin *s, const char *method, struct str path, struct str body)
{
    struct err err = ERR_INIT;
    struct client_answer answer;
    CHECK_OK(client_call(s->control,
                         &(struct client_call){.method = method, .path = path, .body = body},
                         &s->arena, &answer, &err));
    CHECK_EQ(answer.status, 200);
    return answer.body;
}

void standin_script(struct standin *s, const char *json)
{
    call(s, "POST", STR("/control/script"), str_of(json));
}

void standin_release(struct standin *s)
{
    call(s, "POST", STR("/control/release"), STR("{}"));
}

struct str standin_book(struct standin *s, size_t count)
{
    return call(s, "GET", arena_printf(&s->arena, "/control/book?count=%zu", count), STR_NONE);
}

struct str standin_entry(struct standin *s, size_t number, const char *path)
{
    struct json json;
    struct err err = ERR_INIT;
    struct str value = STR_NONE, rest = str_of(path);
    json_start(&json, standin_book(s, number + 1), &s->arena);
    CHECK_OK(json_enter_array(&json, &err));
    for (size_t i = 0; i <= number; i++) {
        CHECK_OK(json_item(&json, &err));
        CHECK_OK(json_raw(&json, &value, &err));
    }
    while (!str_absent(rest)) {
        value = json_find(value, arena_c_text(&s->arena, str_cut(&rest, '.')), &s->arena);
    }
    return value;
}

struct str standin_entry_text(struct standin *s, size_t number, const char *path)
{
    struct json json;
    struct err err = ERR_INIT;
    struct str text, raw = standin_entry(s, number, path);
    json_start(&json, raw, &s->arena);
    CHECK_OK(json_str(&json, &text, &err));
    return text;
}
