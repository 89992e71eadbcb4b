/* tests/fuzz/fuzz_team.c: whatever split of a team is taken can be kept, read again and run.
 *
 * SPDX-License-Identifier: MIT */
#include "fuzz.h"
#include "team/team.h"

static void claim_same(const struct team_tasks *a, const struct team_tasks *b)
{
    FUZZ_CLAIM(a->count == b->count);
    for (size_t i = 0; i < a->count; i++) {
        FUZZ_CLAIM(str_eq(a->at[i].ref, b->at[i].ref) && str_eq(a->at[i].title, b->at[i].title));
        FUZZ_CLAIM(a->at[i].depends_on.count == b->at[i].depends_on.count);
        for (size_t j = 0; j < a->at[i].depends_on.count; j++) {
            FUZZ_CLAIM(a->at[i].needs[j] == b->at[i].needs[j] && a->at[i].needs[j] < a->count);
        }
    }
}

void fuzz_one(struct str text)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    SCOPED(buf_fini) struct buf kept = BUF_INIT(RECORD_BODY_MAX);
    struct json_writer w = JSON_WRITER(&kept);
    struct err err = ERR_INIT;
    struct json json;
    struct team_tasks tasks, again;
    json_start(&json, text, &arena);
    if (!team_tasks_read(&json, &tasks, &err) || !json_end(&json, &err) ||
        !team_tasks_check(&tasks, &arena, &err)) {
        FUZZ_CLAIM(err.kind == ERR_INVALID && err.text[0] != '\0');
        return;
    }
    team_tasks_write(&w, &tasks);
    FUZZ_CLAIM(!kept.full && team_tasks_load(buf_view(&kept), &arena, &again, NULL));
    claim_same(&tasks, &again);
}
