/* team/lead_say.c: messages: written one behind the other, told to whoever listens.
 *
 * Whoever adds one has loaded the team first, which keeps others from adding to it at the same
 * time: so the last message is the last, and ids grow.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "team/lead_data.h"

#include "base/clock.h"

static bool last_message(struct batch *batch, struct task_id team, struct team_message *out,
                         struct err *err)
{
    struct records found;
    struct tx *tx = guest_tx(batch);
    struct record_filter filter = {.kind = RECORD_MESSAGE, .parent = team, .limit = 1};
    *out = (struct team_message){0};
    return tx != NULL && tx_records_list(tx, &filter, guest_arena(batch), &found, err) &&
           (found.count == 0 || team_message_load(&found.at[0], guest_arena(batch), out, err));
}

/* Behind the last one also when another node's clock was ahead. */
static struct task_id id_behind(struct batch *batch, struct task_id last)
{
    struct task_id id = guest_make_id(batch);
    struct id_maker maker = {last.hi, guest_rand(batch)};
    return id.hi > last.hi ? id : id_make(&maker, clock_real_wall_ms());
}

static bool save(struct batch *batch, const struct team_message *message, struct err *err)
{
    struct record record = team_message_record(message, guest_arena(batch));
    struct record_save save = {.record = &record};
    if (!tx_records_save(guest_tx(batch), &save, 1, err)) {
        guest_store_failed(batch, err);
        return false;
    }
    guest_wrote(batch);
    if (!save.applied) {
        guest_lost(batch);
    }
    return save.applied;
}

static void tell(struct batch *batch, const struct team_message *message)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(RECORD_BODY_MAX);
    struct json_writer w = JSON_WRITER(&text);
    team_message_write(&w, message);
    guest_tell(batch, lead_topic(message->team, guest_arena(batch)), STR("message"),
               buf_view(&text));
}

bool lead_say(struct batch *batch, struct team_message *message, bool counted, struct err *err)
{
    struct team_message last;
    struct err failure = ERR_INIT;
    if (!last_message(batch, message->team, &last, &failure)) {
        guest_store_failed(batch, &failure);
        return false;
    }
    if (counted && last.number >= MESSAGES_MAX) {
        return err_set(err, ERR_BUSY, "this team has said %d messages: that is all it may",
                       MESSAGES_MAX);
    }
    message->id = id_behind(batch, last.id);
    message->number = last.number + counted;
    message->created_ms = guest_now(batch).wall_ms;
    if (!save(batch, message, err)) {
        return false;
    }
    tell(batch, message);
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
    (void)!lead_say(batch, &message, false, &err);
}
