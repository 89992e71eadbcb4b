/* team/lead_follow.c: what the changes of a team's tasks mean for the team, and what comes of them.
 *
 * All of it is in the transaction of the change: a team whose last task has ended has ended.
 *
 * Thread: engine. Keeps: a team ends once; a task of a team that has ended does not run again.
 *
 * SPDX-License-Identifier: MIT */
#include "team/lead_data.h"

#define GONE        "its team has ended"
#define SECTION_MAX (TEAM_RESULT_MAX / TEAM_TASKS_MAX) /* of a long result, when all are long */
#define TEXT_MAX    (TEAM_RESULT_MAX / 2)              /* escapes may make it longer */

struct follow {
    struct lead *lead;
    struct batch *batch;
    struct team team;
    const struct task *was, *now;
};

/* ---- Results ----
 *
 * Without a language model the result is a text of sections, one for each task in the order given.
 * Whoever made the text: what failed is named at its end, so that no reader takes a part for the
 * whole. */

/* The task with its result, as this batch leaves it. */
static bool load_result(struct batch *batch, struct task_id id, struct task *out)
{
    struct err err = ERR_INIT;
    const struct task *task = guest_task(batch, id);
    if (task == NULL) {
        return false;
    }
    *out = *task;
    if (task->state != TASK_COMPLETED || !str_absent(task->result)) {
        return true;
    }
    struct task_load load = {.id = id, .arena = guest_arena(batch), .whole = true};
    if (!tx_load(guest_tx(batch), &load, 1, &err)) {
        guest_store_failed(batch, &err);
        return false;
    }
    out->result = load.found ? load.task.result : STR_NONE;
    return true;
}

static void add_failures(struct batch *batch, const struct team *team, struct buf *text)
{
    bool any = false;
    for (size_t i = 0; i < team->tasks.count; i++) {
        const struct task *task = guest_task(batch, team->tasks.at[i].task);
        if (task != NULL && task_state_terminal(task->state) && task->state != TASK_COMPLETED) {
            struct str why =
                !str_absent(task->error.message) ? task->error.message : task->cancel_reason;
            buf_printf(text, "%s- " STR_FMT " (%s%s" STR_FMT ")\n", any ? "" : "\n\nNot done:\n",
                       STR_ARG(team->tasks.at[i].title), task_state_name(task->state),
                       str_absent(why) ? "" : ": ", STR_ARG(why));
            any = true;
        }
    }
}

static struct str as_json(struct str text, struct arena *arena)
{
    SCOPED(buf_fini) struct buf json = BUF_INIT(8 * TEAM_RESULT_MAX);
    struct json_writer w = JSON_WRITER(&json);
    json_add_str(&w, text);
    return arena_str(arena, buf_view(&json));
}

static struct str join_results(struct batch *batch, const struct team *team)
{
    struct arena *arena = guest_arena(batch);
    SCOPED(buf_fini) struct buf text = BUF_INIT(2 * TEAM_RESULT_MAX);
    for (size_t i = 0; i < team->tasks.count; i++) {
        struct task task;
        if (load_result(batch, team->tasks.at[i].task, &task) && task.state == TASK_COMPLETED) {
            struct str all = json_plain(task.result, arena), shown = str_head(all, SECTION_MAX);
            buf_printf(&text, "%s## " STR_FMT "\n\n" STR_FMT "%s", text.len == 0 ? "" : "\n\n",
                       STR_ARG(team->tasks.at[i].title), STR_ARG(shown),
                       shown.len < all.len ? " […]" : "");
        }
    }
    add_failures(batch, team, &text);
    return as_json(str_head(buf_view(&text), TEXT_MAX), arena);
}

static struct str add_to_synthesis(struct batch *batch, const struct team *team, struct str result)
{
    struct arena *arena = guest_arena(batch);
    SCOPED(buf_fini) struct buf text = BUF_INIT(2 * TEAM_RESULT_MAX);
    buf_str(&text, str_head(json_plain(result, arena), TEXT_MAX));
    size_t before = text.len;
    add_failures(batch, team, &text);
    return text.len == before && !str_absent(result) ? result : as_json(buf_view(&text), arena);
}

/* ---- Ends ---- */

void lead_end(struct lead *lead, struct batch *batch, struct team *team, enum team_status status,
              struct str reason)
{
    int64_t now_ms = guest_now(batch).wall_ms;
    team->status = (int)status;
    team->finished_ms = now_ms;
    team->expires_ms = lead->with.retention_ms == 0 ? 0 : now_ms + lead->with.retention_ms;
    if (!lead_save(lead, batch, team)) {
        return;
    }
    lead->draft.figures.ended[status]++;
    lead_cancel_tasks(batch, team, reason);
    lead_release_document(batch, team->hold, reason);
    guest_stop_waiting(batch, team->queue);
    lead_tell(batch, team, status == TEAM_COMPLETED ? "team_completed" : "team_failed",
              lead_end_event(team, guest_arena(batch)));
    lead_news(lead, team, TEAM_ENDED);
}

static void fail(struct follow *f, const char *code, struct str message)
{
    f->team.error_code = str_of(code);
    f->team.error = message;
    lead_end(f->lead, f->batch, &f->team, TEAM_FAILED, message);
}

static void complete(struct follow *f, struct str result)
{
    f->team.result = result;
    lead_end(f->lead, f->batch, &f->team, TEAM_COMPLETED, STR(GONE));
}

static struct str why(const struct follow *f)
{
    const struct task *task = f->now;
    return !str_absent(task->error.message)   ? task->error.message
           : !str_absent(task->cancel_reason) ? task->cancel_reason
                                              : STR("nobody said why");
}

static struct str say_failed(const struct follow *f, struct str what)
{
    return arena_printf(guest_arena(f->batch), STR_FMT " ended %s: " STR_FMT, STR_ARG(what),
                        task_state_name(f->now->state), STR_ARG(why(f)));
}

/* ---- Tasks ---- */

#define LIVE_STATES ((1u << TASK_COMPLETED) - 1)
#define BAD_STATES  (1u << TASK_FAILED | 1u << TASK_TIMEOUT | 1u << TASK_CANCELLED)

/* How many of its tasks are in one of these states. Rows of others are not locked: another node may
 * be ending them, and waits for the team that we hold. */
static bool count(const struct follow *f, unsigned states, size_t *out)
{
    struct err err = ERR_INIT;
    struct task_id *ids;
    size_t ids_count;
    struct task_filter filter = {.team = f->team.id, .states = states};
    if (!tx_select(guest_tx(f->batch), &filter, guest_arena(f->batch), &ids, &ids_count, &err)) {
        guest_store_failed(f->batch, &err);
        return false;
    }
    *out = 0;
    for (size_t i = 0; i < f->team.tasks.count; i++) {
        const struct task *task = guest_peek(f->batch, f->team.tasks.at[i].task);
        bool stored = false;
        for (size_t j = 0; task == NULL && j < ids_count; j++) {
            stored = stored || id_eq(ids[j], f->team.tasks.at[i].task);
        }
        *out += task != NULL ? states >> task->state & 1 : stored;
    }
    return true;
}

/* The last one has ended: with a model the synthesis is ready by now, without one this is it. One
 * that failed in this very batch may be heard of after this one: then its own end decides. */
static void follow_last(struct follow *f)
{
    size_t open, good, bad;
    if (!count(f, LIVE_STATES, &open) || open > 0 || !count(f, 1u << TASK_COMPLETED, &good) ||
        !count(f, BAD_STATES, &bad) || (bad > 0 && f->team.policy == TEAM_FAIL)) {
        return;
    }
    if (good == 0) {
        fail(f, "no_results", STR("none of its tasks was completed"));
    } else if (id_none(f->team.synthesis)) {
        lead_tell(f->batch, &f->team, "synthesizing",
                  lead_mates_event(&f->team, guest_arena(f->batch)));
        complete(f, join_results(f->batch, &f->team));
    }
}

static void tell_task(struct follow *f, size_t place, const char *name)
{
    struct arena *arena = guest_arena(f->batch);
    struct str agent = lead_worker(&f->team, f->now, arena);
    lead_tell(f->batch, &f->team, name, lead_task_event(&f->team, place, agent, f->now, arena));
}

static void follow_bad_end(struct follow *f, size_t place)
{
    tell_task(f, place, "task_failed");
    if (f->team.policy == TEAM_FAIL) {
        struct str name = arena_printf(guest_arena(f->batch), "task " STR_FMT " (" STR_FMT ")",
                                       STR_ARG(f->team.tasks.at[place].ref),
                                       STR_ARG(f->team.tasks.at[place].title));
        fail(f, "task_failed", say_failed(f, name));
    } else {
        follow_last(f);
    }
}

static void follow_task(struct follow *f, size_t place)
{
    if (f->now->state == TASK_RUNNING) {
        tell_task(f, place, "task_claimed");
    } else if (f->now->state == TASK_COMPLETED) {
        tell_task(f, place, "task_completed");
        lead_broadcast_result(f->batch, &f->team, place, f->now);
        follow_last(f);
    } else if (task_state_terminal(f->now->state)) {
        follow_bad_end(f, place);
    }
}

/* ---- The lead's own ---- */

static void follow_split(struct follow *f)
{
    struct err err = ERR_INIT;
    struct arena *arena = guest_arena(f->batch);
    if (!task_state_terminal(f->now->state)) {
        return;
    }
    if (f->now->state != TASK_COMPLETED) {
        fail(f, "split_failed", say_failed(f, STR("the split")));
        return;
    }
    struct json json;
    struct str tasks = json_find(f->now->result, "tasks", arena);
    json_start(&json, str_absent(tasks) ? STR("null") : tasks, arena);
    if (!team_tasks_read(&json, &f->team.tasks, &err) ||
        !team_tasks_check(&f->team.tasks, arena, &err) ||
        !lead_create_tasks(f->batch, &f->team, &err)) {
        f->team.tasks.count = 0;
        fail(f, "split_failed", arena_str(arena, str_of(err.text)));
    } else if (lead_save(f->lead, f->batch, &f->team)) {
        lead_tell(f->batch, &f->team, "tasks_created", lead_tasks_event(&f->team, arena));
        lead_tell(f->batch, &f->team, "teammates_started", lead_mates_event(&f->team, arena));
    }
}

/* Results are there: that the model did not put them into words is no reason to lose them. */
static void follow_synthesis(struct follow *f)
{
    if (f->now->state == TASK_QUEUED && f->was->state == TASK_WAITING) {
        lead_tell(f->batch, &f->team, "synthesizing",
                  lead_mates_event(&f->team, guest_arena(f->batch)));
    } else if (f->now->state == TASK_COMPLETED) {
        complete(f, add_to_synthesis(f->batch, &f->team, f->now->result));
    } else if (task_state_terminal(f->now->state)) {
        complete(f, join_results(f->batch, &f->team));
    }
}

/* ---- The document ---- */

/* What holds the document, or stands in line for it, is the team: to cancel it is to cancel that.
 */
static void follow_document(struct follow *f)
{
    bool came = id_eq(f->now->id, f->team.turn) && f->now->state == TASK_COMPLETED;
    if (came) {
        f->team.turn = TASK_ID_NONE;
        (void)!lead_save(f->lead, f->batch, &f->team);
    } else if (task_state_terminal(f->now->state) || f->now->cancel_requested) {
        lead_end(f->lead, f->batch, &f->team, TEAM_CANCELLED, why(f));
    }
}

/* ---- The change ---- */

/* An attempt has ended, however it did: what it cost is said with its end, and stays with the task
 * until another says otherwise. */
static void count_turn(struct lead *lead, const struct task *was, const struct task *now)
{
    if (was->state != TASK_RUNNING || now->state == TASK_RUNNING || was->container) {
        return;
    }
    lead->draft.figures.turns++;
    if (now->cost.tokens > 0 && now->cost.tokens != was->cost.tokens) {
        lead->draft.figures.tokens += now->cost.tokens;
    }
}

void lead_changed(struct guest *guest, struct batch *batch, const struct task *was,
                  const struct task *now)
{
    bool found;
    struct err refused = ERR_INIT;
    struct follow f = {
        .lead = HOLDER(guest, struct lead, guest), .batch = batch, .was = was, .now = now};
    if (was == NULL || id_none(now->team) || !lead_load(batch, now->team, &found, &f.team)) {
        return;
    }
    count_turn(f.lead, was, now);
    if (!found || f.team.status != TEAM_RUNNING) {
        /* Somebody retried a task of a team that is over: its queue may be another's by now. */
        if (!task_state_terminal(now->state) && now->state != TASK_RUNNING) {
            (void)!guest_cancel(batch, now->id, STR(GONE), &refused);
        }
        lead_release_document(batch, now->family,
                              STR(GONE)); /* it may have been the last to work on it */
        return;
    }
    size_t place = team_place(&f.team, now->id);
    if (id_eq(now->id, f.team.hold) || id_eq(now->id, f.team.turn)) {
        follow_document(&f);
    } else if (id_eq(now->id, f.team.split)) {
        follow_split(&f);
    } else if (id_eq(now->id, f.team.synthesis)) {
        follow_synthesis(&f);
    } else if (place < f.team.tasks.count) {
        follow_task(&f, place);
    }
}
