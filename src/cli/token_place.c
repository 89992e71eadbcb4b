/* cli/token_place.c: where tokens are kept. See token.h.
 *
 * SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "cli/setup.h"
#include "cli/token.h"

/* A file belongs to its server and cannot be opened beside it; a shared store can. */
static bool is_shared(struct str url)
{
    return str_starts(url, STR("postgres"));
}

bool token_place_open(struct token_place *place, struct config *config, bool migrate,
                      struct err *err)
{
    struct str url;
    *place = (struct token_place){.folder = config->data.ptr};
    if (!setup_store(config, &url, err)) {
        return false;
    }
    if (!is_shared(url)) {
        return true;
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

bool token_place_create(struct token_place *place, enum role role, struct str user,
                        char out_text[static TOKEN_TEXT], struct err *err)
{
    struct rand rand;
    int64_t now_ms = clock_real_wall_ms();
    rand_init(&rand);
    return place->steward == NULL
               ? token_create(place->folder, role, user, now_ms, &rand, out_text, err)
               : token_store_create(place->steward, role, user, now_ms, &rand, out_text, err);
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
