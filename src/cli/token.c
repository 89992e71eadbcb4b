/* cli/token.c: `errand token`: who may speak to a server.
 *
 * Works on the data folder itself, beside a running server too; the server notices.
 *
 * SPDX-License-Identifier: MIT */
#include "net/token.h"

#include <stdio.h>

#include "base/clock.h"
#include "cli/human.h"
#include "cli/setup.h"
#include "cli/verb.h"
#include "wire/json.h"
#include "wire/time.h"

struct token_options {
    struct setup_options setup;
    struct str role, user;
    bool json;
};

static bool create(const struct token_options *options, const char *folder, struct err *err)
{
    char text[TOKEN_TEXT];
    struct rand rand;
    enum role role;
    if (!role_parse(options->role, &role)) {
        return err_set(err, ERR_INVALID, "--role must be read, produce, work or admin");
    }
    rand_init(&rand);
    if (!token_create(folder, role, options->user, clock_real_wall_ms(), &rand, text, err)) {
        return false;
    }
    puts(text);
    return true;
}

static enum exit_status run_create(const void *options, const struct words *words)
{
    const struct token_options *given = options;
    SCOPED(config_fini) struct config config = {.arena = ARENA_INIT};
    struct err err = ERR_INIT;
    (void)words;
    if (str_absent(given->role)) {
        err_set(&err, ERR_INVALID, "--role is needed: read, produce, work or admin");
        return verb_usage(&err);
    }
    return setup_config(&given->setup, &config, &err) && setup_folder(&config, &err) &&
                   create(given, config.data.ptr, &err)
               ? EXIT_OK
               : verb_fail(&err);
}

/* ---- List ---- */

static void print_json(const struct token *tokens, size_t count)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(MIB);
    struct json_writer w = JSON_WRITER(&text);
    json_open_array(&w);
    for (size_t i = 0; i < count; i++) {
        json_open_object(&w);
        json_put_c(&w, "id", tokens[i].id);
        json_put_c(&w, "role", role_name(tokens[i].role));
        if (tokens[i].user[0] != '\0') {
            json_put_c(&w, "user", tokens[i].user);
        }
        json_put_time(&w, "createdAt", tokens[i].created_ms);
        json_close_object(&w);
    }
    json_close_array(&w);
    puts(buf_c_text(&text));
}

static void print_table(const struct token *tokens, size_t count, struct arena *arena)
{
    static const char *const heads[] = {"ID", "ROLE", "USER", "CREATED", NULL};
    struct paper paper = paper_stdout();
    SCOPED(table_fini) struct table table;
    table_init(&table, heads, arena);
    for (size_t i = 0; i < count; i++) {
        SCOPED(buf_fini) struct buf when = BUF_INIT(KIB);
        char created[TIME_TEXT_LEN + 1];
        time_text(tokens[i].created_ms, created);
        human_when(&when, &paper, str_of(created));
        table_add(&table, str_of(tokens[i].id));
        table_add(&table, str_of(role_name(tokens[i].role)));
        table_add(&table, str_of(tokens[i].user));
        table_add(&table, buf_view(&when));
    }
    table_print(&table, &paper);
}

static enum exit_status run_ls(const void *options, const struct words *words)
{
    const struct token_options *given = options;
    SCOPED(config_fini) struct config config = {.arena = ARENA_INIT};
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct token *tokens;
    size_t count;
    (void)words;
    if (!setup_config(&given->setup, &config, &err) ||
        !token_list(config.data.ptr, &arena, &tokens, &count, &err)) {
        return verb_fail(&err);
    }
    if (given->json) {
        print_json(tokens, count);
    } else {
        print_table(tokens, count, &arena);
    }
    return EXIT_OK;
}

static enum exit_status run_revoke(const void *options, const struct words *words)
{
    const struct token_options *given = options;
    SCOPED(config_fini) struct config config = {.arena = ARENA_INIT};
    struct err err = ERR_INIT;
    return setup_config(&given->setup, &config, &err) &&
                   token_revoke(config.data.ptr, words->at[0], &err)
               ? EXIT_OK
               : verb_fail(&err);
}

/* ---- The verbs ---- */

static const struct option create_options[] = {
    {"role", "ROLE", "read, produce, work or admin", OPTION_TEXT(struct token_options, role)},
    {"user", "USER", "limit it to this user's schedules", OPTION_TEXT(struct token_options, user)},
    SETUP_OPTIONS(struct token_options),
    OPTION_END,
};

static const struct option ls_options[] = {
    {"json", NULL, "print JSON, for scripts", OPTION_SET(struct token_options, json)},
    SETUP_OPTIONS(struct token_options),
    OPTION_END,
};

static const struct option revoke_options[] = {
    SETUP_OPTIONS(struct token_options),
    OPTION_END,
};

const struct verb token_create_verb = {
    .name = "token create",
    .arguments = "",
    .summary = "make a token and print it",
    .about = "Makes a bearer token and prints it: once, it is kept only as a hash. As soon as one\n"
             "exists the server asks everybody for one, on loopback too.\n\n"
             "Roles: read (look at everything), produce (also create, cancel and change),\n"
             "work (claim and finish tasks), admin (all).",
    .examples =
        "# for yourself\nexport ERRAND_TOKEN=$(errand token create --role admin --data DIR)\n"
        "# for a worker\nerrand token create --role work --data DIR",
    .options = create_options,
    .size = sizeof(struct token_options),
    .run = run_create,
};

const struct verb token_ls_verb = {
    .name = "token ls",
    .arguments = "",
    .summary = "list tokens by id and role",
    .about = "Lists the tokens of a data folder by id, role, user and age. The tokens themselves\n"
             "are not kept and cannot be shown.",
    .examples = "# who may speak to it\nerrand token ls --data DIR",
    .options = ls_options,
    .size = sizeof(struct token_options),
    .run = run_ls,
};

const struct verb token_revoke_verb = {
    .name = "token revoke",
    .arguments = "ID",
    .summary = "take a token back",
    .about =
        "Takes back the token with this id (see errand token ls). A running server refuses it\n"
        "from its next request on.",
    .examples = "# it leaked\nerrand token revoke 3f9a01c2d4e5 --data DIR",
    .options = revoke_options,
    .size = sizeof(struct token_options),
    .words_min = 1,
    .words_max = 1,
    .run = run_revoke,
};
