/* team/lead_command.c: what clients wish of teams, decided in the engine's batches; and messages.
 *
 * Everything that stays in an answer is put into the command's arena; a batch may be lost and its
 * commands decided again, so what a wish brings is never overwritten before it is granted.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "team/lead_data.h"

#define KEYS_AT_ONCE 32 /* queues that are looked for at a time */

struct wish {
    struct lead *lead;
    struct batch *batch;
    struct command *command;
    struct lead_order *order;
    struct arena *arena; /* the command's */
    struct err *err;
};

static bool find(struct wish *wish, struct team *out)
{
    bool found = false;
    return lead_load(wish->batch, wish->order->id, &found, out) &&
           (found || err_set(wish->err, ERR_NOT_FOUND, "there is no such team"));
}

/* The batch's arena ends with the batch. */
static void keep(struct wish *wish, const struct team *team)
{
    struct record record = team_record(team, wish->arena);
    (void)!team_load(&record, wish->arena, &wish->order->team, NULL);
}

/* ---- Messages ----
 *
 * Written one behind the other, told to whoever listens. Whoever adds one has loaded the team
 * first, which keeps others from adding to it at the same time: so the last message is the last,
 * and ids grow. */

/* `counted`: somebody said it, and there is a limit. */
static bool add_message(struct batch *batch, struct team_message *message, bool counted,
                        struct err *err)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(RECORD_BODY_MAX);
    struct json_writer w = JSON_WRITER(&text);
    struct arena *arena = guest_arena(batch);
    struct team_message last = {0};
    struct records found;
    struct err failure = ERR_INIT;
    struct tx *tx = guest_tx(batch);
    const struct record_filter filter = {
        .kind = RECORD_MESSAGE, .parent = message->team, .limit = 1};
    if (tx == NULL || !tx_records_list(tx, &filter, arena, &found, &failure) ||
        (found.count > 0 && !team_message_load(&found.at[0], arena, &last, &failure))) {
        guest_store_failed(batch, &failure);
        return false;
    }
    if (counted && last.number >= MESSAGES_MAX) {
        return err_set(err, ERR_BUSY, "this team has said %d messages: that is all it may",
                       MESSAGES_MAX);
    }
    message->id = guest_make_id(batch);
    if (message->id.hi <= last.id.hi) { /* another node's clock was ahead */
        struct id_maker maker = {.last_hi = last.id.hi, .rand = guest_rand(batch)};
        message->id = id_make(&maker, clock_real_wall_ms());
    }
    message->number = last.number + counted;
    message->created_ms = guest_now(batch).wall_ms;
    struct record record = team_message_record(message, arena);
    if (!guest_save_record(batch, &record)) {
        return false;
    }
    team_message_write(&w, message);
    guest_tell(batch, lead_topic(message->team, arena), STR("message"), buf_view(&text));
    return true;
}

/* The result itself is what is said. One that is too long for a mailbox is only announced; whoever
 * depends on it gets it with its task. */
void lead_broadcast_result(struct batch *batch, const struct team *team, size_t place,
                           const struct task *task)
{
    struct err err = ERR_INIT;
    bool fits = !str_absent(task->result) && task->result.len <= MESSAGE_RESULT_MAX;
    struct team_message message = {.team = team->id,
                                   .from = lead_worker(team, task, guest_arena(batch)),
                                   .body = fits ? task->result : STR("null"),
                                   .task = task->id,
                                   .title = team->tasks.at[place].title};
    (void)!add_message(batch, &message, false, &err);
}

/* ---- Creating ---- */

/* Queues are used again, so that there are never more of them than teams that run at once. The
 * first that is looked at follows from the id, which is random: one that was just left is not
 * likely to be taken again while somebody still asks for it. */
static bool find_queue(struct wish *wish, struct team *team)
{
    struct err err = ERR_INIT;
    struct str keys[KEYS_AT_ONCE];
    struct task_id taken[KEYS_AT_ONCE];
    struct tx *tx = guest_tx(wish->batch);
    for (uint64_t from = 0; tx != NULL && from < TEAMS_RUNNING_MAX; from += KEYS_AT_ONCE) {
        for (uint64_t i = 0; i < KEYS_AT_ONCE; i++) {
            unsigned number = (unsigned)((team->id.lo + from + i) % TEAMS_RUNNING_MAX);
            keys[i] = arena_printf(wish->arena, RESERVED_TEAM_QUEUE "%u", 1 + number);
        }
        if (!tx_records_find(tx, RECORD_TEAM, keys, KEYS_AT_ONCE, taken, &err)) {
            guest_store_failed(wish->batch, &err);
            return false;
        }
        for (size_t i = 0; i < KEYS_AT_ONCE; i++) {
            if (id_none(taken[i])) {
                team->queue = keys[i];
                return true;
            }
        }
    }
    return tx != NULL &&
           err_set(wish->err, ERR_BUSY, "%d teams run already: try again later", TEAMS_RUNNING_MAX);
}

static void name_mates(struct wish *wish, struct team *team)
{
    if (team->mates.at != NULL || !team->decides) {
        return;
    }
    team->mates.at = arena_array(wish->arena, struct team_mate, TEAM_MATES_DEFAULT);
    team->mates.count = TEAM_MATES_DEFAULT;
    for (size_t i = 0; i < TEAM_MATES_DEFAULT; i++) {
        team->mates.at[i].role = arena_printf(wish->arena, "teammate %zu", i + 1);
    }
}

static void create(struct wish *wish)
{
    struct team team = wish->order->team;
    team.id = guest_make_id(wish->batch);
    team.version = 0;
    team.status = TEAM_RUNNING;
    /* The answer has the place of the wish: this one may be that of a batch that was lost. */
    team.split = team.synthesis = team.hold = team.turn = TASK_ID_NONE;
    team.decides = wish->lead->with.decides;
    team.created_ms = guest_now(wish->batch).wall_ms;
    if (team.tasks.count == 0 && !team.decides) {
        err_set(wish->err, ERR_REFUSED,
                "no language model is configured ([llm] base_url), so the tasks must be given");
        return;
    }
    name_mates(wish, &team);
    if (!find_queue(wish, &team) || !lead_create_tasks(wish->batch, &team, wish->err) ||
        !lead_save(wish->lead, wish->batch, &team)) {
        return;
    }
    struct arena *arena = guest_arena(wish->batch);
    if (!id_none(team.split)) {
        lead_tell(wish->batch, &team, "decomposing", lead_mates_event(&team, arena));
    } else {
        lead_tell(wish->batch, &team, "tasks_created", lead_tasks_event(&team, arena));
        lead_tell(wish->batch, &team, "teammates_started", lead_mates_event(&team, arena));
    }
    lead_news(wish->lead, &team, TEAM_BEGAN);
    wish->order->id = team.id;
    wish->order->team = team;
}

/* ---- Ending ---- */

static void end(struct wish *wish)
{
    struct team team;
    if (!find(wish, &team)) {
        return;
    }
    wish->order->removed = team.status != TEAM_RUNNING;
    if (wish->order->removed) {
        (void)!lead_remove(wish->batch, team.id);
    } else {
        /* Agents read it in their mailboxes; who works hears it with its next heartbeat, too. */
        struct team_message message = {
            .team = team.id, .from = STR("lead"), .body = STR("\"the team was cancelled\"")};
        (void)!add_message(wish->batch, &message, false, wish->err);
        lead_end(wish->lead, wish->batch, &team, TEAM_CANCELLED, STR("the team was cancelled"));
    }
    keep(wish, &team);
}

/* ---- Saying ---- */

static void say(struct wish *wish)
{
    struct team team;
    struct team_message message = wish->order->message;
    if (!find(wish, &team)) {
        return;
    }
    if (team.status != TEAM_RUNNING) {
        err_set(wish->err, ERR_CONFLICT, "the team is %s: nobody listens any more",
                team_statuses[team.status]);
        return;
    }
    message.team = team.id;
    if (add_message(wish->batch, &message, true, wish->err)) {
        wish->order->message = message;
    }
}

/* ---- Looking ---- */

static bool look_at_mail(struct wish *wish, struct err *err)
{
    struct records found;
    struct lead_order *order = wish->order;
    struct record_filter filter = {
        .kind = RECORD_MESSAGE, .parent = order->id, .oldest_first = true};
    if (!tx_records_list(guest_tx(wish->batch), &filter, wish->arena, &found, err)) {
        return false;
    }
    order->mail = arena_array(wish->arena, struct team_message, found.count);
    order->mail_count = 0;
    for (size_t i = 0; i < found.count; i++) {
        struct team_message *message = &order->mail[order->mail_count];
        if (!team_message_load(&found.at[i], wish->arena, message, err)) {
            return false;
        }
        order->mail_count += team_message_is_for(message, order->agent);
    }
    return true;
}

static void look(struct wish *wish)
{
    struct team team;
    struct err err = ERR_INIT;
    if (!find(wish, &team)) {
        return;
    }
    keep(wish, &team);
    if (!str_absent(wish->order->agent) && !look_at_mail(wish, &err)) {
        guest_store_failed(wish->batch, &err);
    }
}

/* ---- The table of wishes ---- */

static void (*const verbs[LEAD_VERBS])(struct wish *wish) = {
    [LEAD_CREATE] = create,
    [LEAD_END] = end,
    [LEAD_SAY] = say,
    [LEAD_LOOK] = look,
};

static void decide(struct guest *guest, struct batch *batch, struct command *command)
{
    struct wish wish = {.lead = HOLDER(guest, struct lead, guest),
                        .batch = batch,
                        .command = command,
                        .order = command->guest.what,
                        .arena = command->arena,
                        .err = &command->err};
    command->err = ERR_INIT; /* of an earlier try */
    verbs[wish.order->verb](&wish);
}

void lead_ask(struct lead *lead, struct command *command, struct lead_order *order)
{
    command->kind = COMMAND_GUEST;
    command->guest = (struct command_guest){.guest = &lead->guest, .decide = decide, .what = order};
}

static void decide_figures(struct guest *guest, struct batch *batch, struct command *command)
{
    (void)batch;
    *(struct lead_figures *)command->guest.what = HOLDER(guest, struct lead, guest)->figures;
}

void lead_ask_figures(struct lead *lead, struct command *command, struct lead_figures *out)
{
    command->kind = COMMAND_GUEST;
    command->guest =
        (struct command_guest){.guest = &lead->guest, .decide = decide_figures, .what = out};
}
