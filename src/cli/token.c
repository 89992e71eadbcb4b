/* cli/token.c: `errand token`: who may speak to a server.
 *
 * Works on the data folder itself, or on the store that a fleet shares, beside running servers too;
 * they notice.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/token.h"

#include <stdio.h>

#include "base/clock.h"
#include "cli/human.h"
#include "cli/setup.h"
#include "cli/verb.h"
#include "wire/json.h"
#include "wire/time.h"

struct token_options {
    struct setup_options setup;
    struct str role, user, name, expires;
    bool json;
};

/* ---- Where tokens are kept ---- */

bool token_place_open(struct token_place *place, struct config *config, bool migrate,
                      struct err *err)
{
    struct str url;
    *place = (struct token_place){.folder = config->data.ptr};
    if (!setup_store(config, &url, err)) {
        return false;
    }
    if (!str_starts(url, STR("postgres"))) {
        return true; /* a file belongs to its server and cannot be opened beside it */
    }
    const struct store_options options = {
        .url = url, .no_migrate = !migrate, .read_only = !migrate};
    return store_open(&options, &place->store, err) &&
           steward_open(place->store, &place->steward, err);
}

void token_place_fini(struct token_place *place)
{
    steward_close(place->steward);
    store_close(place->store);
}

bool token_place_create(struct token_place *place, const struct token_order *order,
                        struct token *out, char out_text[static TOKEN_TEXT], struct err *err)
{
    struct rand rand;
    int64_t now_ms = clock_real_wall_ms();
    rand_init(&rand);
    return place->steward == NULL
               ? token_create(place->folder, order, now_ms, &rand, out, out_text, err)
               : token_store_create(place->steward, order, now_ms, &rand, out, out_text, err);
}

bool token_place_list(struct token_place *place, struct arena *arena, struct token_list *out,
                      struct err *err)
{
    struct token *shared = NULL, *own;
    size_t own_count;
    *out = (struct token_list){0};
    if ((place->steward != NULL &&
         !token_store_list(place->steward, arena, &shared, &out->shared, err)) ||
        !token_list(place->folder, arena, &own, &own_count, err)) {
        return false;
    }
    out->count = out->shared + own_count;
    out->tokens = arena_array(arena, struct token, out->count);
    for (size_t i = 0; i < out->count; i++) {
        out->tokens[i] = i < out->shared ? shared[i] : own[i - out->shared];
    }
    return true;
}

bool token_place_revoke(struct token_place *place, struct str id, struct err *err)
{
    struct err why = {.kind = ERR_NOT_FOUND};
    if (place->steward != NULL && token_store_revoke(place->steward, id, &why)) {
        return true;
    }
    return why.kind == ERR_NOT_FOUND ? token_revoke(place->folder, id, err)
                                     : err_set(err, why.kind, "%s", why.text);
}

static void write_token(struct json_writer *w, const struct token *token, bool shared)
{
    json_put_c(w, "id", token->id);
    json_put_c(w, "role", role_name(token->role));
    if (token->user[0] != '\0') {
        json_put_c(w, "user", token->user);
    }
    if (token->name[0] != '\0') {
        json_put_c(w, "name", token->name);
    }
    json_put_c(w, "place", shared ? "store" : "folder");
    json_put_time(w, "createdAt", token->created_ms);
    if (token->expires_ms != 0) {
        json_put_time(w, "expiresAt", token->expires_ms);
    }
}

/* ---- Create ---- */

static const struct value_rule expires_rule = {.kind = VALUE_TIME};

static enum exit_status run_create(const void *options, const struct words *words)
{
    const struct token_options *given = options;
    SCOPED(config_fini) struct config config = {.arena = ARENA_INIT};
    SCOPED(token_place_fini) struct token_place place = {0};
    char text[TOKEN_TEXT];
    struct token token;
    struct err err = ERR_INIT;
    struct token_order order = {.user = given->user, .name = given->name};
    (void)words;
    if (!role_parse(given->role, &order.role)) {
        err_set(&err, ERR_INVALID, "--role is needed: read, produce, work or admin");
        return verb_usage_as(given->json, &err);
    }
    if (!str_absent(given->expires)) {
        SCOPED(buf_fini) struct buf expires = BUF_INIT(KIB);
        value_send(&expires_rule, given->expires, &expires);
        if (!time_parse(buf_view(&expires), &order.expires_ms, &err)) {
            return verb_usage_as(given->json, &err);
        }
    }
    if (!setup_config(&given->setup, &config, &err) || !setup_folder(&config, &err) ||
        !token_place_open(&place, &config, true, &err) ||
        !token_place_create(&place, &order, &token, text, &err)) {
        return verb_fail_as(given->json, &err);
    }
    if (given->json) {
        SCOPED(buf_fini) struct buf json = BUF_INIT(4 * KIB);
        struct json_writer w = JSON_WRITER(&json);
        json_open_object(&w);
        json_put_c(&w, "token", text);
        write_token(&w, &token, place.steward != NULL);
        json_close_object(&w);
        puts(buf_c_text(&json));
    } else {
        puts(text);
    }
    return EXIT_OK;
}

/* ---- List ---- */

static void print_json(const struct token_list *list)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(MIB);
    struct json_writer w = JSON_WRITER(&text);
    json_open_array(&w);
    for (size_t i = 0; i < list->count; i++) {
        json_open_object(&w);
        write_token(&w, &list->tokens[i], i < list->shared);
        json_close_object(&w);
    }
    json_close_array(&w);
    puts(buf_c_text(&text));
}

static void add_time(struct table *table, const struct paper *paper, int64_t ms)
{
    SCOPED(buf_fini) struct buf when = BUF_INIT(KIB);
    char text[TIME_TEXT_LEN + 1];
    time_text(ms, text);
    human_when(&when, paper, str_of(text));
    table_add(table, buf_view(&when));
}

static void print_table(const struct token_list *list, struct arena *arena)
{
    static const char *const heads[] = {"ID",    "NAME",    "ROLE",    "USER",
                                        "PLACE", "CREATED", "EXPIRES", NULL};
    struct paper paper = paper_stdout();
    SCOPED(table_fini) struct table table;
    table_init(&table, heads, arena);
    for (size_t i = 0; i < list->count; i++) {
        const struct token *token = &list->tokens[i];
        table_add(&table, str_of(token->id));
        table_add(&table, str_of(token->name));
        table_add(&table, str_of(role_name(token->role)));
        table_add(&table, str_of(token->user));
        table_add(&table, i < list->shared ? STR("store") : STR("folder"));
        add_time(&table, &paper, token->created_ms);
        if (token->expires_ms == 0) {
            table_add(&table, STR("never"));
        } else if (token->expires_ms <= paper.now_ms) {
            table_add(&table, STR("expired"));
        } else {
            add_time(&table, &paper, token->expires_ms);
        }
    }
    table_print(&table, &paper);
}

static enum exit_status run_ls(const void *options, const struct words *words)
{
    const struct token_options *given = options;
    SCOPED(config_fini) struct config config = {.arena = ARENA_INIT};
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    SCOPED(token_place_fini) struct token_place place = {0};
    struct err err = ERR_INIT;
    struct token_list list;
    (void)words;
    if (!setup_config(&given->setup, &config, &err) ||
        !token_place_open(&place, &config, false, &err) ||
        !token_place_list(&place, &arena, &list, &err)) {
        return verb_fail_as(given->json, &err);
    }
    if (given->json) {
        print_json(&list);
    } else {
        print_table(&list, &arena);
    }
    return EXIT_OK;
}

static enum exit_status run_revoke(const void *options, const struct words *words)
{
    const struct token_options *given = options;
    SCOPED(config_fini) struct config config = {.arena = ARENA_INIT};
    SCOPED(token_place_fini) struct token_place place = {0};
    struct err err = ERR_INIT;
    if (!setup_config(&given->setup, &config, &err) ||
        !token_place_open(&place, &config, false, &err) ||
        !token_place_revoke(&place, words->at[0], &err)) {
        return verb_fail_as(given->json, &err);
    }
    if (given->json) {
        verb_print_removed(words->at[0]);
    }
    return EXIT_OK;
}

/* ---- The verbs ---- */

/* clang-format off */
#define JSON_OPTION {"json", NULL, "print JSON, for scripts", OPTION_SET(struct token_options, json)}
/* clang-format on */

static const struct option create_options[] = {
    {"role", "ROLE", "read, produce, work or admin", OPTION_TEXT(struct token_options, role)},
    {"user", "USER", "limit it to this user's schedules", OPTION_TEXT(struct token_options, user)},
    {"name", "NAME", "whom or what it is for, so that you know it again",
     OPTION_TEXT(struct token_options, name)},
    {"expires", "TIME", "refused from then on: 90d, 2027-03-01",
     OPTION_TIME(struct token_options, expires)},
    JSON_OPTION,
    SETUP_OPTIONS(struct token_options),
    OPTION_END,
};

static const struct option ls_options[] = {
    JSON_OPTION,
    SETUP_OPTIONS(struct token_options),
    OPTION_END,
};

static const struct option revoke_options[] = {
    JSON_OPTION,
    SETUP_OPTIONS(struct token_options),
    OPTION_END,
};

const struct verb token_create_verb = {
    .name = "token create",
    .arguments = "",
    .summary = "make a token and print it",
    .about = "Makes a bearer token and prints it: once, it is kept only as a hash. As soon as one\n"
             "exists the server asks everybody for one, on loopback too. With a postgres:// store\n"
             "it is for every node of the fleet, within a second or two. One that --expires is\n"
             "refused with 401 from then on and stays in the list until it is revoked.\n\n"
             "Roles: read (look at everything), produce (also create, cancel and change),\n"
             "work (claim and finish tasks), admin (all).",
    .examples =
        "# for yourself\nexport ERRAND_TOKEN=$(errand token create --role admin --data DIR)\n"
        "# for a worker, for a quarter of a year\n"
        "errand token create --role work --name resizer --expires 90d --data DIR\n"
        "# for all nodes of a fleet\nerrand token create --role work --store postgres://db/errand",
    .options = create_options,
    .size = sizeof(struct token_options),
    .run = run_create,
};

const struct verb token_ls_verb = {
    .name = "token ls",
    .arguments = "",
    .summary = "list tokens by id, name and role",
    .about = "Lists the tokens by id, name, role, user, age and expiry: those that a fleet shares "
             "in its store,\n"
             "and those of the data folder, which only its own server takes. The tokens\n"
             "themselves are not kept and cannot be shown.",
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
        "from its next request on, a fleet's within a second or two.",
    .examples = "# it leaked\nerrand token revoke 3f9a01c2d4e5 --data DIR",
    .options = revoke_options,
    .size = sizeof(struct token_options),
    .words_min = 1,
    .words_max = 1,
    .run = run_revoke,
};
