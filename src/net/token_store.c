/* net/token_store.c: tokens that a whole fleet shares. See token_store.h.
 *
 * SPDX-License-Identifier: MIT */
#include "net/token_store.h"

#include "base/buf.h"
#include "net/token_file.h"

bool token_store_create(struct steward *steward, const struct token_order *order, int64_t wall_ms,
                        struct rand *rand, struct token *out, char out_text[static TOKEN_TEXT],
                        struct err *err)
{
    struct token token;
    char text[TOKEN_TEXT];
    bool added;
    SCOPED(buf_fini) struct buf line = BUF_INIT(KIB);
    if (!token_make(order, wall_ms, rand, &token, text, err)) {
        return false;
    }
    token_line_write(&line, &token);
    const struct steward_token row = {.id = str_of(token.id), .line = buf_view(&line)};
    if (!steward_token_add(steward, &row, TOKENS_MAX, &added, err)) {
        return false;
    }
    if (!added) {
        return err_set(err, ERR_BUSY, "there are %d tokens already", TOKENS_MAX);
    }
    memcpy(out_text, text, TOKEN_TEXT);
    *out = token;
    return true;
}

static struct token *parse(const struct steward_token *rows, size_t count, struct arena *arena)
{
    struct token *tokens = arena_array(arena, struct token, count);
    for (size_t i = 0; i < count; i++) {
        if (!token_line_parse(rows[i].line, &tokens[i])) {
            tokens[i] = (struct token){.role = ROLE_NONE};
            memcpy(tokens[i].id, rows[i].id.ptr, MIN(rows[i].id.len, sizeof tokens[i].id - 1));
        }
    }
    return tokens;
}

bool token_store_list(struct steward *steward, struct arena *arena, struct token **out,
                      size_t *out_count, struct err *err)
{
    struct steward_token *rows;
    if (!steward_tokens(steward, arena, &rows, out_count, err)) {
        return false;
    }
    *out = parse(rows, *out_count, arena);
    return true;
}

bool token_store_revoke(struct steward *steward, struct str id, struct err *err)
{
    bool dropped;
    return steward_token_drop(steward, id, &dropped, err) &&
           (dropped || err_set(err, ERR_NOT_FOUND, "there is no token " STR_FMT, STR_ARG(id)));
}

void token_store_share(const struct steward_token *rows, size_t count, struct token_book *book)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    token_book_share(book, parse(rows, count, &arena), count);
}
