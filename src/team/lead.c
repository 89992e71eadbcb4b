/* team/lead.c: the lead as a guest of the engine: when it acts, and what a commit means.
 *
 * What it knows between batches is when the first ended team is to go, and whether the crew was
 * told which teams run. See lead.h.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "team/lead.h"

#include <stdio.h>

#include "base/mem.h"
#include "team/lead_data.h"

#define NEVER   INT64_MAX
#define POLL_MS SECOND_MS /* a shared store: another node may have begun a team */

static struct lead *lead_of(struct guest *guest)
{
    return HOLDER(guest, struct lead, guest);
}

/* ---- Loading and saving ---- */

bool lead_load(struct batch *batch, struct task_id id, bool *found, struct team *out)
{
    struct err err = ERR_INIT;
    struct record_load load = {.kind = RECORD_TEAM, .id = id};
    if (!guest_load_record(batch, &load, guest_arena(batch))) {
        return false;
    }
    if (load.found && !team_load(&load.record, guest_arena(batch), out, &err)) {
        guest_store_failed(batch, &err);
        return false;
    }
    *found = load.found;
    return true;
}

bool lead_save(struct lead *lead, struct batch *batch, struct team *team)
{
    struct record record = team_record(team, guest_arena(batch));
    if (!guest_save_record(batch, &record)) {
        return false;
    }
    team->version++;
    if (record.due_ms != 0) {
        lead->draft.saved_ms = MIN(lead->draft.saved_ms, record.due_ms);
    }
    return true;
}

bool lead_remove(struct batch *batch, struct task_id id)
{
    struct err err = ERR_INIT;
    if (!guest_delete_records(batch, RECORD_TEAM, &id, 1)) {
        return false;
    }
    if (!tx_records_clear(guest_tx(batch), RECORD_MESSAGE, id, &err)) {
        guest_store_failed(batch, &err);
        return false;
    }
    return true;
}

void lead_tell(struct batch *batch, const struct team *team, const char *name, struct str json)
{
    guest_tell(batch, lead_topic(team->id, guest_arena(batch)), str_of(name), json);
}

/* ---- The crew ---- */

static struct team_news *news_new(enum team_news_kind kind)
{
    struct team_news *news = mem_new(struct team_news);
    news->kind = kind;
    return news;
}

void lead_news(struct lead *lead, const struct team *team, enum team_news_kind kind)
{
    if (lead->with.news == NULL) {
        return;
    }
    struct team_news *news = news_new(kind);
    news->team = team->id;
    news->mates = team->mates.count;
    snprintf(news->queue, sizeof news->queue, STR_FMT, STR_ARG(team->queue));
    list_append(&lead->draft.news, &news->link);
}

/* ---- Acting ---- */

static int64_t until(int64_t at_ms, int64_t now_ms)
{
    return at_ms == NEVER ? NEVER : MAX(at_ms - now_ms, 0);
}

static int64_t due_in_ms(struct guest *guest, struct now now)
{
    const struct lead *lead = lead_of(guest);
    if (!lead->leads) {
        return NEVER;
    }
    int64_t in = lead->knows ? until(lead->next_ms, now.wall_ms) : 0;
    bool polls = lead->with.shared && !lead->with.is_told;
    return polls ? MIN(in, until(lead->looked_mono_ms + POLL_MS, now.mono_ms)) : in;
}

static void list_running(struct lead *lead, struct batch *batch, struct tx *tx)
{
    struct records running;
    struct err err = ERR_INIT;
    struct team team;
    struct record_filter filter = {.kind = RECORD_TEAM, .marks = 1u << TEAM_RUNNING};
    if (!tx_records_list(tx, &filter, guest_arena(batch), &running, &err)) {
        guest_store_failed(batch, &err);
        return;
    }
    for (size_t i = 0; i < running.count; i++) {
        if (!team_load(&running.at[i], guest_arena(batch), &team, &err)) {
            continue;
        }
        lead_news(lead, &team, TEAM_BEGAN);
        if (lead->with.shared && !id_none(team.turn)) {
            guest_review(batch, team.turn); /* whoever watched for it may be gone */
        }
    }
    lead->draft.knows = true;
}

static void expire(struct lead *lead, struct batch *batch, struct tx *tx)
{
    struct records old;
    struct err err = ERR_INIT;
    if (!tx_records_due(tx, RECORD_TEAM, guest_now(batch).wall_ms, EXPIRE_CHUNK, guest_arena(batch),
                        &old, &lead->draft.next_ms, &err)) {
        guest_store_failed(batch, &err);
        return;
    }
    for (size_t i = 0; i < old.count; i++) {
        if (!lead_remove(batch, old.at[i].id)) {
            return;
        }
    }
    lead->draft.acted = true;
    lead->draft.mono_ms = guest_now(batch).mono_ms;
}

static void act(struct guest *guest, struct batch *batch)
{
    struct lead *lead = lead_of(guest);
    struct tx *tx = guest_tx(batch);
    if (tx == NULL) {
        return;
    }
    if (lead->with.shared || (!lead->knows && lead->with.news != NULL)) {
        list_running(lead, batch, tx);
    }
    lead->draft.knows = true;
    expire(lead, batch, tx);
}

/* ---- What a commit means ---- */

static void draft_clear(struct lead *lead)
{
    lead->draft.acted = lead->draft.knows = false;
    lead->draft.next_ms = lead->draft.saved_ms = NEVER;
    lead->draft.figures = (struct lead_figures){0};
    LIST_EACH(&lead->draft.news, it)
    {
        list_remove(it);
        mem_free(HOLDER(it, struct team_news, link));
    }
}

static void count_figures(struct lead *lead)
{
    struct lead_figures *all = &lead->figures;
    const struct lead_figures *more = &lead->draft.figures;
    for (int status = 0; status < TEAM_STATUSES; status++) {
        all->ended[status] += more->ended[status];
    }
    all->turns += more->turns;
    all->tokens += more->tokens;
}

static void settled(struct guest *guest, struct batch *batch, bool committed)
{
    struct lead *lead = lead_of(guest);
    (void)batch;
    if (committed) {
        if (lead->draft.acted) {
            lead->next_ms = lead->draft.next_ms;
            lead->looked_mono_ms = lead->draft.mono_ms;
        }
        lead->next_ms = MIN(lead->next_ms, lead->draft.saved_ms);
        lead->knows = lead->knows || lead->draft.knows;
        count_figures(lead);
        if (!list_empty(&lead->draft.news)) {
            channel_give_all(lead->with.news, &lead->draft.news);
        }
    }
    draft_clear(lead);
}

static void leads(struct guest *guest, bool leads)
{
    struct lead *lead = lead_of(guest);
    lead->leads = leads;
    lead->knows = false;
    lead->next_ms = 0;
    if (lead->with.news != NULL) {
        channel_give(lead->with.news, &news_new(leads ? TEAM_LEADS : TEAM_FOLLOWS)->link);
    }
}

/* ---- Life ---- */

struct lead *lead_new(const struct lead_options *options)
{
    struct lead *lead = mem_new(struct lead);
    lead->guest = (struct guest){.due_in_ms = due_in_ms,
                                 .act = act,
                                 .changed = lead_changed,
                                 .settled = settled,
                                 .leads = leads};
    lead->with = *options;
    lead->leads = !options->shared;
    lead->looked_mono_ms = INT64_MIN / 2;
    list_init(&lead->draft.news);
    draft_clear(lead);
    return lead;
}

void lead_free(struct lead *lead)
{
    if (lead != NULL) {
        draft_clear(lead);
        mem_free(lead);
    }
}

struct guest *lead_guest(struct lead *lead)
{
    return &lead->guest;
}

bool lead_decides(const struct lead *lead)
{
    return lead->with.decides;
}
